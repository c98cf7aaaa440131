/** The outcomes of requests to the servers of the HTTP benchmarks. A peer that skips a check is faster without being better. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import type { Environment } from "../src/Benchmark.ts"
import * as KinoraServer from "../src/KinoraServer.ts"
import { lean } from "../src/peers/Lean.ts"
import * as Peer from "../src/peers/Peer.ts"
import { textbook } from "../src/peers/Textbook.ts"
import { tuned } from "../src/peers/Tuned.ts"
import * as PostgresServer from "../src/PostgresServer.ts"
import { makeEnvironment } from "./makeEnvironment.ts"

type Check = "fingerprint" | "queue" | "double entry" | "queued job" | "webhook event"

/** A server, the checks that it makes besides those of every server, and the statements that read what it stores. */
interface Contestant {
  readonly name: string
  readonly start: (environment: Environment) => ReturnType<typeof Peer.start>
  readonly checks: ReadonlyArray<Check>
  readonly jobs: string
  readonly credits: string
  /** The credits that balanced entries moved. An entry of Kinora names both of its books. */
  readonly entries?: string
  /** The number of jobs in the queue of workers. */
  readonly queued?: string
}

const all: ReadonlyArray<Check> = ["fingerprint", "queue", "double entry", "queued job"]
const books = {
  jobs: "SELECT count(*) AS value FROM job",
  credits: "SELECT sum(remaining) AS value FROM lot",
  entries: "SELECT CASE sum(amount) WHEN 0 THEN sum(amount) FILTER (WHERE amount > 0) END AS value FROM ledger_entry"
}

const contestants: ReadonlyArray<Contestant> = [
  {
    name: "kinora",
    start: (environment) => KinoraServer.make(environment, { workers: 0 }),
    checks: all,
    jobs: "SELECT count(*) AS value FROM generation_job",
    credits: "SELECT sum(remaining) AS value FROM ledger_lot",
    entries: `SELECT sum(amount) AS value FROM ledger_entry
              WHERE transaction_id IN (SELECT id FROM ledger_transaction WHERE kind = 'charge')`,
    queued: "SELECT count(*) AS value FROM scheduler_job"
  },
  {
    ...books,
    name: textbook.name,
    start: (environment) => Peer.start(textbook, environment),
    checks: [...all, "webhook event"],
    queued: "SELECT count(*) AS value FROM pgboss.job WHERE name = 'generations'"
  },
  {
    ...books,
    name: tuned.name,
    start: (environment) => Peer.start(tuned, environment),
    checks: [...all, "webhook event"],
    queued: "SELECT count(*) AS value FROM queue"
  },
  {
    name: lean.name,
    start: (environment) => Peer.start(lean, environment),
    checks: [],
    jobs: "SELECT count(*) AS value FROM job",
    credits: "SELECT sum(credits) AS value FROM account"
  }
]

const Response = Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.Union([Schema.Null, Schema.String, Schema.Struct({ code: Schema.String })]))
})

const startedOf = Effect.fnUntraced(function*(contestant: Contestant, environment: Environment) {
  const server = yield* contestant.start(environment)
  const call = (key: string, path: string, init: RequestInit = {}) =>
    Effect.promise(async () => {
      const headers = new Headers(init.headers)
      headers.set("authorization", `Bearer ${key}`)
      const response = await fetch(`${server.origin}/v1/generations${path}`, { ...init, headers })
      const { error, id } = Schema.decodeUnknownSync(Response)(await response.json())
      return { status: response.status, id, error: typeof error === "string" ? error : error?.code }
    })
  const create = (key: string, idempotencyKey?: string, prompt = "a lake at dawn") =>
    Effect.suspend(() =>
      call(key, "", {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": idempotencyKey ?? randomUUID() },
        body: JSON.stringify({ plan: "credits", model: "kinora-draft", params: { prompt, aspect_ratio: "16:9" } })
      })
    )
  const read = (statement: string | undefined) =>
    Effect.promise(() =>
      PostgresServer.withClient(server.database, async (client) => {
        const { rows: [row] } = await client.query<{ value: string }>(statement ?? "SELECT 0 AS value")
        return row?.value
      })
    )
  const run = (statement: string) => Effect.promise(() => PostgresServer.run(server.database, statement))
  return { server, call, create, read, run }
})

describe("contestants of the HTTP benchmarks", () => {
  it.live.each(contestants)(
    "$name: a creation is charged once, and refused without credits or with a wrong key",
    (contestant) =>
      Effect.gen(function*() {
        const environment = yield* makeEnvironment
        const { call, create, read, run, server } = yield* startedOf(contestant, environment)
        const has = (check: Check) => contestant.checks.includes(check)
        const [key = ""] = yield* server.makeKeys(1, 1)
        if (has("webhook event")) {
          yield* run("INSERT INTO webhook_endpoint SELECT gen_random_uuid(), id, 'https://example.com' FROM account")
        }

        // A server may have accounts of its own.
        const credits = Number(yield* read(contestant.credits))
        const created = yield* create(key, "the first")
        assert.strictEqual(created.status, 201)
        const replayed = yield* create(key, "the first")
        assert.deepStrictEqual([replayed.status, replayed.id], [200, created.id])
        assert.deepStrictEqual(yield* call(key, `/${created.id}`), { status: 200, id: created.id, error: undefined })
        assert.deepStrictEqual([yield* read(contestant.jobs), Number(yield* read(contestant.credits))], [
          "1",
          credits - 1
        ])
        if (has("queued job")) assert.strictEqual(yield* read(contestant.queued), "1")
        if (has("double entry")) assert.strictEqual(yield* read(contestant.entries), "1")
        if (has("webhook event")) assert.strictEqual(yield* read("SELECT count(*) AS value FROM webhook_event"), "1")
        if (has("fingerprint")) {
          const reused = yield* create(key, "the first", "another lake")
          assert.deepStrictEqual([reused.status, reused.error], [422, "idempotency_key_reused"])
        }

        const poor = yield* create(key, "the second")
        assert.deepStrictEqual([poor.status, poor.error], [402, "insufficient_credits"])
        // The refused request has not used its key up.
        assert.strictEqual((yield* create(key, "the second")).status, 402)
        for (const wrong of [`${key}x`, "none"]) {
          assert.strictEqual((yield* create(wrong)).status, 401)
          assert.strictEqual((yield* call(wrong, `/${created.id}`)).status, 401)
        }
        assert.deepStrictEqual([yield* read(contestant.jobs), Number(yield* read(contestant.credits))], [
          "1",
          credits - 1
        ])
      }),
    600_000
  )

  it.live.each(contestants.filter(({ checks }) => checks.includes("queue")))(
    "$name: an account has room for 28 jobs, and a key for 300 requests per minute",
    (contestant) =>
      Effect.gen(function*() {
        const { call, create, server } = yield* startedOf(contestant, yield* makeEnvironment)
        const [busy = "", eager = ""] = yield* server.makeKeys(2)
        const jobs = yield* Effect.replicateEffect(create(busy), 28, { concurrency: 4 })
        assert.deepStrictEqual([...new Set(jobs.map(({ status }) => status))], [201])
        const full = yield* create(busy)
        assert.deepStrictEqual([full.status, full.error], [429, "queue_full"])

        const { id } = yield* create(eager)
        const read = call(eager, `/${id}`)
        // A window may end meanwhile.
        const reads = yield* Effect.replicateEffect(read, 601, { concurrency: 16 })
        const refused = reads.filter(({ status }) => status === 429)
        assert.isAbove(refused.length, 0)
        assert.deepStrictEqual([...new Set(refused.map(({ error }) => error))], ["rate_limited"])
        assert.isAtLeast(reads.length - refused.length, 299)
      }),
    600_000
  )
})
