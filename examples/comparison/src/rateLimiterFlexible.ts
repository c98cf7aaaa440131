/** The hotel of `examples/limits`, with rate-limiter-flexible. It has no counterpart of `@kinora/idempotency`. */
import { bookings, type Database } from "@kinora/example-limits/database"
import { DrizzleQueryError } from "drizzle-orm"
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify"
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible"

/** Creates the limiter and its table. */
export const createLimiter = (pool: Database["$client"]): Promise<RateLimiterPostgres> =>
  new Promise((resolve, reject) => {
    const limiter = new RateLimiterPostgres(
      { storeClient: pool, tableName: "requests", points: 10, duration: 60 },
      (error) => error === undefined ? resolve(limiter) : reject(error)
    )
  })

/** Returns the app of the hotel. */
export const makeApp = (db: Database, limiter: RateLimiterPostgres): FastifyInstance => {
  const app = fastify()

  app.addHook("onRequest", async (request, reply) => {
    // Rejects with the result of a hit that is over the limit.
    const hit = await limiter.consume(accountOf(request)).catch((rejection: unknown) => {
      if (rejection instanceof RateLimiterRes) return rejection
      throw rejection
    })
    const seconds = Math.ceil(hit.msBeforeNext / 1000)
    reply.headers({
      "x-ratelimit-limit": limiter.points,
      "x-ratelimit-remaining": hit.remainingPoints,
      "x-ratelimit-reset": seconds
    })
    if (hit.consumedPoints > limiter.points) {
      return reply.code(429).header("retry-after", seconds).send({ error: "Too many requests" })
    }
  })

  app.post<{ Body: { room: number; night: string } }>("/bookings", async (request, reply) => {
    const booking = { account: accountOf(request), room: request.body.room, night: request.body.night }
    const [row] = await db.insert(bookings).values(booking).returning()
    return reply.code(201).send(row)
  })

  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof DrizzleQueryError)) return reply.send(error)
    return reply.code(409).send({ error: "The room is taken" })
  })
  return app
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const accountOf = (request: FastifyRequest): string => String(request.headers["x-account"])
