import { type ApiKey, createApiKeys, hasScope } from "@kinora/api-keys/promise"
import { Hono } from "hono"
import { createMiddleware } from "hono/factory"

export const keys = await createApiKeys({ memory: true }) // { pool } or { url } stores the keys in Postgres

/** Rejects requests without a key that has the scope. */
const authenticated = (scope: string) =>
  createMiddleware<{ Variables: { key: ApiKey } }>(async (c, next) => {
    const [, sent] = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "") ?? []
    // `address` admits keys that are restricted to networks. Take it from the socket or from a proxy that you trust.
    const key = sent === undefined ? undefined : await keys.verify({ key: sent })
    if (key === undefined) return c.json({ error: "unauthenticated" }, 401, { "www-authenticate": "Bearer" })
    if (!hasScope(key, scope)) return c.json({ error: "forbidden" }, 403)
    c.set("key", key)
    return next()
  })

export const app = new Hono()
app.get("/orders", authenticated("read"), (c) => c.json({ ordersOf: c.get("key").owner }))
app.post("/orders", authenticated("write"), (c) => c.json({ id: crypto.randomUUID() }, 201))
