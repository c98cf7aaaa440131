/**
 * The program of the tuned peer. See `Tuned.ts`.
 *
 * `node tunedServer.ts <database url>` prints `{"base_url": …}` when it is ready.
 */
import * as PgPool from "@kinora/testkit/PgPool"
import fastify, { type FastifyReply } from "fastify"
import * as ApiKeys from "./ApiKeys.ts"
import * as Requests from "./jobRequests.ts"
import { limits } from "./Textbook.ts"

const pool = PgPool.make(process.argv[2] ?? "")
const authenticate = ApiKeys.make(pool)
const server = fastify()

/** The status of each outcome of the function that creates jobs. */
const statuses = {
  created: 201,
  replayed: 200,
  rate_limited: 429,
  idempotency_key_reused: 422,
  queue_full: 429,
  insufficient_credits: 402
} as const

interface Limited {
  readonly remaining: number
  readonly resets_after: number
  readonly response: Requests.JobRow | null
}

interface Outcome extends Limited {
  readonly outcome: keyof typeof statuses
}

const columns = "remaining, 60 - floor(extract(second FROM now()))::int4 AS resets_after, response"

const setHeaders = (reply: FastifyReply, limit: number, { remaining, resets_after }: Limited) => {
  void reply.headers({
    "x-ratelimit-limit": limit,
    "x-ratelimit-remaining": Math.max(0, remaining),
    "x-ratelimit-reset": resets_after
  })
  if (remaining < 0) void reply.header("retry-after", resets_after)
}

server.post<{ Body: Requests.Create }>("/v1/generations", { schema: Requests.createSchema }, async (request, reply) => {
  const identity = await authenticate(request)
  if (identity === undefined) return Requests.refuse(reply, 401, "unauthorized")
  const { account, key, status } = identity
  if (status !== "active") return Requests.refuse(reply, 403, "account_suspended")
  const { model, params } = request.body
  const { rows: [row] } = await pool.query<Outcome>({
    name: "create",
    text: `SELECT outcome, ${columns} FROM create_job($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      key,
      account,
      Requests.idempotencyKeyOf(request),
      Requests.fingerprintOf(request.body),
      model,
      JSON.stringify(params),
      Requests.cost
    ]
  })
  const { outcome, response } = row!
  setHeaders(reply, outcome === "created" ? limits.createsPerMinute : limits.requestsPerMinute, row!)
  const isCreated = outcome === "created" || outcome === "replayed"
  return isCreated
    ? Requests.sendJob(reply, statuses[outcome], response)
    : Requests.refuse(reply, statuses[outcome], outcome)
})

server.get<{ Params: { readonly id: string } }>("/v1/generations/:id", async (request, reply) => {
  const identity = await authenticate(request)
  if (identity === undefined) return Requests.refuse(reply, 401, "unauthorized")
  const { rows: [row] } = await pool.query<Limited>({
    name: "read",
    text: `SELECT ${columns} FROM read_job($1, $2, $3)`,
    values: [identity.key, identity.account, request.params.id]
  })
  const { remaining, response } = row!
  setHeaders(reply, limits.requestsPerMinute, row!)
  if (remaining < 0) return Requests.refuse(reply, 429, "rate_limited")
  return Requests.sendJob(reply, 200, response)
})

process.once("SIGTERM", () => void server.close().then(() => pool.end()))
process.stdout.write(`${JSON.stringify({ base_url: await server.listen({ host: "127.0.0.1", port: 0 }) })}\n`)
