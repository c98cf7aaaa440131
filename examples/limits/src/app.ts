/** The HTTP API of a hotel. Each account may make ten requests per minute, and a repeated request books once. */
import { idempotent, runningRequest } from "@kinora/idempotency/fastify"
import type { Idempotency } from "@kinora/idempotency/promise"
import { fromDrizzle } from "@kinora/persistence/external"
import { rateLimit } from "@kinora/rate-limit/fastify"
import type { Limits } from "@kinora/rate-limit/promise"
import { DrizzleQueryError, eq } from "drizzle-orm"
import fastify, { type FastifyInstance } from "fastify"
import { DatabaseError } from "pg"
import { bookings, type Database } from "./database.ts"

/** Services of the app. */
export interface Services {
  readonly db: Database
  readonly limits: Limits
  readonly idempotency: Idempotency
}

/** Returns the app of the hotel. */
export const makeApp = ({ db, idempotency, limits }: Services): FastifyInstance => {
  const app = fastify()

  app.addHook("onRequest", async (request, reply) => {
    if (accountOf(request) === "") return reply.code(401).send({ error: "The header X-Account is missing" })
  })
  app.addHook(
    "onRequest",
    rateLimit({ limits, policy: "requests", limit: 10, algorithm: "slidingWindow", key: accountOf })
  )
  app.addHook("preHandler", idempotent({ idempotency, scope: accountOf, required: true }))

  // The booking and the response of its key are committed together, or neither.
  app.post<{ Body: NewBooking }>("/bookings", { schema: { body: newBooking } }, async (request, reply) => {
    const booking = { account: accountOf(request), room: request.body.room, night: request.body.night }
    const body = await db.transaction(async (tx) => {
      const [row] = await tx.insert(bookings).values(booking).returning()
      const body = JSON.stringify(row)
      const response = { status: 201, headers: [["content-type", "application/json; charset=utf-8"]] as const, body }
      await runningRequest(request)?.complete(response, { tx: fromDrizzle(tx) })
      return body
    })
    return reply.code(201).type("application/json; charset=utf-8").send(body)
  })

  app.get("/bookings", (request) => db.select().from(bookings).where(eq(bookings.account, accountOf(request))))

  app.setErrorHandler((error, _request, reply) => {
    if (!isTaken(error)) return reply.send(error)
    return reply.code(409).send({ error: "The room is taken" })
  })
  return app
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface NewBooking {
  readonly room: number
  readonly night: string
}

const newBooking = {
  type: "object",
  required: ["room", "night"],
  properties: { room: { type: "integer", minimum: 1, maximum: 999 }, night: { type: "string", format: "date" } }
}

/** The header stands for your authentication. */
const accountOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string => {
  const account = headers["x-account"]
  return typeof account === "string" ? account.slice(0, 128) : ""
}

const isTaken = (error: unknown): boolean =>
  error instanceof DrizzleQueryError && error.cause instanceof DatabaseError &&
  error.cause.constraint === "booking_room_night"
