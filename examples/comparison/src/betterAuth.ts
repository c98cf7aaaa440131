/** The weather service of `examples/stations`, with the API keys of Better Auth instead of `@kinora/api-keys`. */
import { type ApiKey, apiKey } from "@better-auth/api-key"
import { transaction } from "@kinora/example-billing/database"
import { betterAuth } from "better-auth"
import { getMigrations } from "better-auth/db/migration"
import { Hono } from "hono"
import { createMiddleware } from "hono/factory"
import { randomUUID } from "node:crypto"
import { DatabaseError, type Pool, type PoolClient } from "pg"

/** Better Auth on a pool, or on a transaction by `connectionOf`. */
export const authOn = (database: Pool) =>
  betterAuth({
    database,
    baseURL: "http://127.0.0.1",
    secret: "a secret of at least thirty-two bytes",
    plugins: [apiKey({ defaultPrefix: "wx_", rateLimit: { enabled: false } })]
  })

/** Better Auth with its keys. */
export type Auth = ReturnType<typeof authOn>

/** Creates or updates the tables of Better Auth. */
export const migrate = async (auth: Auth): Promise<void> => (await getMigrations(auth.options)).runMigrations()

/** The connection of a transaction, in the form of a pool. The documentation of Better Auth does not describe this. */
export const connectionOf = (tx: PoolClient): Pool =>
  ({ connect: async () => ({ query: tx.query.bind(tx), release: () => {} }) }) as Pool

/** Services of the app. */
export interface Services {
  readonly pool: Pool
  readonly auth: Auth
  /** Returns what creates keys in a transaction of the app. */
  readonly authIn: (tx: PoolClient) => Auth
}

/** Returns the app of the weather service. */
export const makeApp = ({ auth, authIn, pool }: Services): Hono => {
  const app = new Hono()

  /** Rejects requests without a key, and those whose key does not allow the action. */
  const authenticated = (action?: "report" | "read") =>
    createMiddleware<{ Variables: { key: Omit<ApiKey, "key"> } }>(async (c, next) => {
      const [, sent = ""] = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "") ?? []
      const permissions = action === undefined ? {} : { permissions: { temperature: [action] } }
      const verified = await auth.api.verifyApiKey({ body: { key: sent, ...permissions } })
      if (verified.key === null) return c.json({ error: "The key is invalid" }, 401)
      c.set("key", verified.key)
      return next()
    })

  app.post("/stations", async (c) => {
    const { place } = await c.req.json()
    const userId = randomUUID()
    const created = await transaction(pool, async (tx) => {
      const { api } = authIn(tx)
      const [report, read] = [{ temperature: ["report"] }, { temperature: ["read"] }]
      const reporter = await api.createApiKey({ body: { userId, name: "reporter", permissions: report } })
      const reader = await api.createApiKey({ body: { userId, name: "reader", permissions: read } })
      await tx.query("INSERT INTO station (id, place) VALUES ($1, $2)", [userId, place])
      return { reporter: reporter.key, reader: reader.key }
    })
    return c.json({ id: userId, place, ...created }, 201)
  })

  // The former key stays active for a day.
  app.post("/keys/roll", authenticated(), async (c) => {
    const { id, permissions, referenceId } = c.get("key")
    const copy = { userId: referenceId, ...permissions && { permissions } }
    const rolled = await auth.api.createApiKey({ body: copy })
    await auth.api.updateApiKey({ body: { keyId: id, userId: referenceId, expiresIn: 24 * 60 * 60 } })
    return c.json({ rolled: rolled.key }, 201)
  })

  app.delete("/keys/current", authenticated(), async (c) => {
    const { id, referenceId } = c.get("key")
    await auth.api.updateApiKey({ body: { keyId: id, userId: referenceId, enabled: false } })
    return c.body(null, 204)
  })

  app.delete("/stations/current", authenticated("report"), async (c) => {
    const { referenceId } = c.get("key")
    await transaction(pool, async (tx) => {
      // Better Auth deletes a key in a session of its user. Its documentation advises a statement instead.
      await tx.query(`DELETE FROM apikey WHERE "referenceId" = $1`, [referenceId])
      await tx.query("DELETE FROM station WHERE id = $1", [referenceId])
    })
    return c.body(null, 204)
  })

  app.get("/temperature", authenticated("read"), async (c) => {
    const { rows: [station] } = await pool.query("SELECT * FROM station WHERE id = $1", [c.get("key").referenceId])
    return c.json(station)
  })

  app.onError((error, c) => {
    const isTaken = error instanceof DatabaseError && error.constraint === "station_place_key"
    return isTaken ? c.json({ error: "The place has a station" }, 409) : c.json({ error: "The service failed" }, 500)
  })
  return app
}
