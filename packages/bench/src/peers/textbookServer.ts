/**
 * The program of the textbook peer. See `Textbook.ts`.
 *
 * `node textbookServer.ts <database url>` prints `{"base_url": …}` when it is ready.
 */
import * as PgPool from "@kinora/testkit/PgPool"
import fastify, { type FastifyReply } from "fastify"
import { randomUUID } from "node:crypto"
import type { PoolClient } from "pg"
import { PgBoss } from "pg-boss"
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible"
import * as ApiKeys from "./ApiKeys.ts"
import * as Requests from "./jobRequests.ts"
import { limits } from "./Textbook.ts"

const url = process.argv[2] ?? ""
const pool = PgPool.make(url)
const queue = "generations"
const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false })
boss.on("error", () => {})
await boss.start()
await boss.createQueue(queue)

const limiter = async (tableName: string, points: number): Promise<RateLimiterPostgres> => {
  const made = await new Promise<RateLimiterPostgres>((resolve, reject) => {
    const limiter = new RateLimiterPostgres(
      { storeClient: pool, storeType: "pool", points, duration: 60, tableName, clearExpiredByTimeout: false },
      (error) => error === undefined ? resolve(limiter) : reject(error)
    )
  })
  await pool.query(`ALTER TABLE ${tableName} SET UNLOGGED`)
  return made
}

const requestLimit = await limiter("limit_requests", limits.requestsPerMinute)
const createLimit = await limiter("limit_creates", limits.createsPerMinute)

const authenticate = ApiKeys.make(pool)

/** Counts a hit and sets the headers. Returns false once the limit is exceeded. */
const hit = async (reply: FastifyReply, limiter: RateLimiterPostgres, key: string): Promise<boolean> => {
  try {
    const { msBeforeNext, remainingPoints } = await limiter.consume(key)
    void reply.headers({
      "x-ratelimit-limit": limiter.points,
      "x-ratelimit-remaining": remainingPoints,
      "x-ratelimit-reset": Math.ceil(msBeforeNext / 1000)
    })
    return true
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal
    void reply.header("retry-after", Math.ceil(refusal.msBeforeNext / 1000))
    return false
  }
}

/** A response that is not a job. */
class Refusal {
  readonly status: number
  readonly error: string
  constructor(status: number, error: string) {
    this.status = status
    this.error = error
  }
}

/** Runs a transaction. A returned refusal rolls it back too. */
const transact = <A>(run: (client: PoolClient) => Promise<A | Refusal>): Promise<A | Refusal> =>
  PgPool.inTransaction(pool, run, (result) => !(result instanceof Refusal))

interface Claim {
  readonly fingerprint: string
  readonly job: string | null
}

/** Phase 1: claims the idempotency key. Returns the claim of an earlier request, if there is one. */
const claim = async (account: string, key: string, fingerprint: string): Promise<Claim | undefined> => {
  const { rowCount } = await pool.query({
    name: "claim",
    text: `INSERT INTO idempotency (account, key, fingerprint, expires_at)
           VALUES ($1, $2, $3, now() + interval '24 hours') ON CONFLICT DO NOTHING`,
    values: [account, key, fingerprint]
  })
  if (rowCount === 1) return undefined
  const { rows: [earlier] } = await pool.query<Claim>({
    name: "earlier",
    text: "SELECT fingerprint, job FROM idempotency WHERE account = $1 AND key = $2",
    values: [account, key]
  })
  return earlier
}

/** Whether the account has room for a job, and whether the job can run at once. The account is locked. */
const place = async (client: PoolClient, account: string): Promise<"queued" | "pending" | Refusal> => {
  await client.query({ name: "lock", text: "SELECT id FROM account WHERE id = $1 FOR UPDATE", values: [account] })
  const { rows: [counts] } = await client.query<{ readonly running: number; readonly waiting: number }>({
    name: "count",
    text: `SELECT count(*) FILTER (WHERE status IN ('queued', 'processing'))::int4 AS running,
             count(*) FILTER (WHERE status = 'pending')::int4 AS waiting
           FROM job WHERE account = $1 AND status IN ('pending', 'queued', 'processing')`,
    values: [account]
  })
  if (counts === undefined || counts.running < limits.running) return "queued"
  return counts.waiting < limits.waiting ? "pending" : new Refusal(429, "queue_full")
}

/** Takes the credits from the lots that expire first, with a transaction in double entry. */
const charge = async (client: PoolClient, account: string, job: string): Promise<Refusal | undefined> => {
  const { rows: lots } = await client.query<{ readonly id: string; readonly remaining: string }>({
    name: "lots",
    text: `SELECT id, remaining FROM lot WHERE account = $1 AND expires_at > now() AND remaining > 0
           ORDER BY expires_at FOR UPDATE`,
    values: [account]
  })
  let open = Requests.cost
  const parts = lots.flatMap(({ id, remaining }) => {
    const amount = Math.min(open, Number(remaining))
    open -= amount
    return amount === 0 ? [] : [{ id, amount }]
  })
  if (open > 0) return new Refusal(402, "insufficient_credits")
  const transaction = randomUUID()
  await client.query({
    name: "transaction",
    text: "INSERT INTO ledger_transaction (id, account, kind, reference) VALUES ($1, $2, 'charge', $3)",
    values: [transaction, account, job]
  })
  for (const [index, { amount, id }] of parts.entries()) {
    await client.query({
      name: "draw",
      text: "UPDATE lot SET remaining = remaining - $2 WHERE id = $1",
      values: [id, amount]
    })
    await client.query({
      name: "entries",
      text: `INSERT INTO ledger_entry (transaction, line, book, amount)
             VALUES ($1, $2, $3, $4), ($1, $5, 'consumed', $6)`,
      values: [transaction, index * 2, `lot:${id}`, -amount, index * 2 + 1, amount]
    })
  }
  return undefined
}

/** Phase 2: charges, and stores the job, its entry in the queue and its webhook events. */
const create = (account: string, { model, params }: Requests.Create) =>
  transact(async (client): Promise<Requests.JobRow | Refusal> => {
    const id = randomUUID()
    const status = await place(client, account)
    if (status instanceof Refusal) return status
    const refusal = await charge(client, account, id)
    if (refusal !== undefined) return refusal
    const { rows: [row] } = await client.query<Requests.JobRow>({
      name: "job",
      text: `INSERT INTO job (id, account, model, status, params, cost) VALUES ($1, $2, $3, $4, $5, $6) RETURNING *`,
      values: [id, account, model, status, JSON.stringify(params), Requests.cost]
    })
    await client.query({
      name: "event",
      text: `INSERT INTO webhook_event (endpoint, type, data)
             SELECT id, 'generation.created', $2 FROM webhook_endpoint WHERE account = $1`,
      values: [account, JSON.stringify(row)]
    })
    const db = { executeSql: (text: string, values: Array<unknown> = []) => client.query(text, values) }
    await boss.send(queue, { id }, { group: { id: account }, db })
    return row!
  })

/** Phase 3: stores the job with the claim, so that the request can be replayed. A refused request gives up its claim. */
const finish = (account: string, key: string, job: string | undefined) =>
  pool.query(
    job === undefined
      ? { name: "give-up", text: "DELETE FROM idempotency WHERE account = $1 AND key = $2", values: [account, key] }
      : {
        name: "finish",
        text: "UPDATE idempotency SET job = $3 WHERE account = $1 AND key = $2",
        values: [account, key, job]
      }
  )

const replay = async (reply: FastifyReply, { fingerprint, job }: Claim, account: string, expected: string) => {
  if (fingerprint !== expected) return Requests.refuse(reply, 422, "idempotency_key_reused")
  return job === null
    ? Requests.refuse(reply, 409, "idempotency_in_progress")
    : Requests.sendJob(reply, 200, await Requests.findJob(pool, job, account))
}

const server = fastify()

server.post<{ Body: Requests.Create }>("/v1/generations", { schema: Requests.createSchema }, async (request, reply) => {
  const identity = await authenticate(request)
  if (identity === undefined) return Requests.refuse(reply, 401, "unauthorized")
  const { account, key, status } = identity
  if (!await hit(reply, requestLimit, key)) return Requests.refuse(reply, 429, "rate_limited")
  if (status !== "active") return Requests.refuse(reply, 403, "account_suspended")
  const idempotencyKey = Requests.idempotencyKeyOf(request)
  const fingerprint = Requests.fingerprintOf(request.body)
  const earlier = await claim(account, idempotencyKey, fingerprint)
  if (earlier instanceof Refusal) return Requests.refuse(reply, earlier.status, earlier.error)
  if (earlier !== undefined) return replay(reply, earlier, account, fingerprint)
  const isInLimit = await hit(reply, createLimit, account)
  const created = isInLimit ? await create(account, request.body) : new Refusal(429, "rate_limited")
  await finish(account, idempotencyKey, created instanceof Refusal ? undefined : created.id)
  return created instanceof Refusal
    ? Requests.refuse(reply, created.status, created.error)
    : Requests.sendJob(reply, 201, created)
})

server.get<{ Params: { readonly id: string } }>("/v1/generations/:id", async (request, reply) => {
  const identity = await authenticate(request)
  if (identity === undefined) return Requests.refuse(reply, 401, "unauthorized")
  if (!await hit(reply, requestLimit, identity.key)) return Requests.refuse(reply, 429, "rate_limited")
  return Requests.sendJob(reply, 200, await Requests.findJob(pool, request.params.id, identity.account))
})

process.once("SIGTERM", async () => {
  await server.close()
  await boss.stop({ graceful: false })
  await pool.end()
})
process.stdout.write(`${JSON.stringify({ base_url: await server.listen({ host: "127.0.0.1", port: 0 }) })}\n`)
