/** The HTTP API of a weather service. A station has a key that reports temperatures, and a key that reads them. */
import { type ApiKey, type ApiKeys, ApiKeysError, hasScope } from "@kinora/api-keys/promise"
import { fromPrisma } from "@kinora/persistence/external"
import { Hono } from "hono"
import { createMiddleware } from "hono/factory"
import { HTTPException } from "hono/http-exception"
import { randomUUID } from "node:crypto"
import { Prisma, type PrismaClient } from "../generated/client.ts"

/** Services of the app. */
export interface Services {
  readonly prisma: PrismaClient
  readonly keys: ApiKeys
}

/** Returns the app of the weather service. */
export const makeApp = ({ keys, prisma }: Services): Hono => {
  const app = new Hono()

  /** Rejects requests without a key, and those whose key does not have the scope. */
  const authenticated = (scope?: "report" | "read") =>
    createMiddleware<{ Variables: { key: ApiKey } }>(async (c, next) => {
      const [, sent] = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "") ?? []
      const key = sent === undefined ? undefined : await keys.verify({ key: sent })
      if (key === undefined) return c.json({ error: "The key is invalid" }, 401, { "www-authenticate": "Bearer" })
      if (scope !== undefined && !hasScope(key, scope)) return c.json({ error: "The key has another scope" }, 403)
      c.set("key", key)
      return next()
    })

  // The keys and the row of their station are committed together, or none of them.
  app.post("/stations", async (c) => {
    // An id that no station had before, since a process can still have the keys of a deleted station in its cache.
    const station = { id: randomUUID(), place: placeOf(await bodyOf(c.req)) }
    const created = await prisma.$transaction(async (prismaTx) => {
      const call = { owner: station.id, tx: fromPrisma(prismaTx) }
      const reporter = await keys.create({ ...call, name: "reporter", scopes: ["report"] })
      const reader = await keys.create({ ...call, name: "reader", scopes: ["read"] })
      await prismaTx.station.create({ data: station })
      return { reporter: reporter.key, reader: reader.key }
    })
    return c.json({ ...station, ...created }, 201)
  })

  // The former key stays active for a day, so that every device can switch.
  app.post("/keys/roll", authenticated(), async (c) => {
    const { id, owner } = c.get("key")
    const rolled = await keys.roll({ owner, id, overlap: "1 day" })
    return c.json({ rolled: rolled.key }, 201)
  })

  app.delete("/keys/current", authenticated(), async (c) => {
    await keys.revoke(c.get("key"))
    return c.body(null, 204)
  })

  app.delete("/stations/current", authenticated("report"), async (c) => {
    const { owner } = c.get("key")
    await prisma.$transaction(async (prismaTx) => {
      await keys.forget({ owner, tx: fromPrisma(prismaTx) })
      await prismaTx.station.delete({ where: { id: owner } })
    })
    return c.body(null, 204)
  })

  app.put("/temperature", authenticated("report"), async (c) => {
    const data = { celsius: celsiusOf(await bodyOf(c.req)) }
    return c.json(await prisma.station.update({ where: { id: c.get("key").owner }, data }))
  })

  app.get(
    "/temperature",
    authenticated("read"),
    async (c) => c.json(await prisma.station.findUniqueOrThrow({ where: { id: c.get("key").owner } }))
  )

  app.onError((error, c) => {
    if (error instanceof HTTPException) return c.json({ error: error.message }, error.status)
    if (error instanceof ApiKeysError) return c.json({ error: error.message }, 409)
    const refusal = error instanceof Prisma.PrismaClientKnownRequestError ? refusals.get(error.code) : undefined
    return refusal === undefined
      ? c.json({ error: "The service failed" }, 500)
      : c.json({ error: refusal[1] }, refusal[0])
  })
  return app
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Errors of Prisma that are answers to a client. */
const refusals = new Map<string, readonly [status: 404 | 409, message: string]>([
  ["P2002", [409, "The place has a station"]],
  ["P2025", [404, "The station was deleted"]]
])

const bodyOf = async (request: { readonly json: () => Promise<unknown> }): Promise<Readonly<Record<string, unknown>>> =>
  Object(await request.json().catch(() => undefined))

const placeOf = ({ place }: Readonly<Record<string, unknown>>): string => {
  if (typeof place === "string" && /^[ -~]{1,100}$/.test(place)) return place
  throw new HTTPException(400, { message: "place must have 1 to 100 characters" })
}

const celsiusOf = ({ celsius }: Readonly<Record<string, unknown>>): number => {
  if (typeof celsius === "number" && Math.abs(celsius) < 100) return celsius
  throw new HTTPException(400, { message: "celsius must be a temperature" })
}
