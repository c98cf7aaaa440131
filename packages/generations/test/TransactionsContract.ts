/** Folded calls inside transactions of their callers. */
import { assert, layer } from "@effect/vitest"
import { Ledger } from "@kinora/ledger"
import { Rows } from "@kinora/persistence"
import { transactions } from "@kinora/persistence/testing"
import { Scheduler } from "@kinora/scheduler"
import { Duration, Effect, type Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type Generation, GenerationId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { makeClaimOperation } from "../src/internal/run/operationClaim.ts"
import { type layerSql, openAccount, request } from "./Assembly.ts"

const calls = 120
const accountsCount = 6

/** The folded operations commit or roll back with their caller's transaction. */
export const suite = <E>(name: string, backend: Layer.Layer<Layer.Success<ReturnType<typeof layerSql>>, E>) =>
  layer(backend)(`Generations in transactions of their callers (${name})`, (it) => {
    for (const [way, transaction] of Object.entries(transactions)) {
      it.effect(`commits or rolls back each created generation with the row of its caller in ${way}`, () =>
        Effect.gen(function*() {
          const { create } = yield* Generations
          const inTransaction = yield* transaction
          const accounts = yield* openAccounts
          yield* concurrently((n) =>
            Effect.gen(function*() {
              const { generation } = yield* create(yield* request(accounts[n % accountsCount]!, { key: `${n}` }))
              yield* insertRow(generation.id)
              if (isRolledBack(n)) return yield* Effect.die("rolled back")
            }).pipe(inTransaction, exceptRolledBack(n))
          )
          assert.deepStrictEqual(yield* findInconsistent(accounts), { count: calls * 3 / 4, inconsistent: 0 })
          yield* assertSound(accounts)
        }))

      it.effect(`commits or rolls back each cancellation with the row of its caller in ${way}`, () =>
        Effect.gen(function*() {
          const { cancel } = yield* Generations
          const inTransaction = yield* transaction
          const accounts = yield* openAccounts
          const generations = yield* createAll(accounts)
          yield* concurrently((n) =>
            Effect.gen(function*() {
              const generation = generations[n]!
              yield* insertRow(generation.id)
              yield* cancel(generation.account, generation.id)
              if (isRolledBack(n)) return yield* Effect.die("rolled back")
            }).pipe(inTransaction, exceptRolledBack(n))
          )
          const cancelled = yield* findInconsistent(accounts, "cancelled")
          assert.deepStrictEqual(cancelled, { count: calls * 3 / 4, inconsistent: 0 })
          yield* assertSound(accounts)
        }))

      it.effect(`assigns each operation of an upstream with the row of its caller in ${way}, or to no job`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const random = yield* SecureRandom.SecureRandom
          const inTransaction = yield* transaction
          const claimOperation = yield* makeClaimOperation("1 day")
          const upstream = { name: "scripted", account: yield* random.uuidV4() }
          const claim = (job: string, n: number) =>
            claimOperation({ job, model: { time_limit: Duration.hours(1) }, upstream, operation: { n } })
          yield* sql`CREATE TABLE IF NOT EXISTS assignment (upstream text, n int4, PRIMARY KEY (upstream, n))`
          yield* concurrently((n) =>
            Effect.gen(function*() {
              yield* sql`INSERT INTO assignment (upstream, n) VALUES (${upstream.account}, ${n})`
              yield* claim(yield* random.uuidV7(), n)
              if (isRolledBack(n)) return yield* Effect.die("rolled back")
            }).pipe(inTransaction, exceptRolledBack(n))
          )
          const rows = yield* sql<{ n: number }>`SELECT n FROM assignment WHERE upstream = ${upstream.account}`
          const committed = new Set(rows.map(({ n }) => n))
          assert.strictEqual(committed.size, calls * 3 / 4)
          // Only an operation of no job can be assigned to another one.
          const free = yield* concurrently((n) => Effect.isSuccess(claim(another, n)))
          assert.deepStrictEqual(free.flatMap((isFree, n) => isFree === committed.has(n) ? n : []), [])
        }))

      it.effect(`finds a generation that the caller created in the same ${way}`, () =>
        Effect.gen(function*() {
          const { create, get } = yield* Generations
          const inTransaction = yield* transaction
          const accounts = yield* openAccounts
          const found = yield* concurrently((n) =>
            Effect.gen(function*() {
              const account = accounts[n % accountsCount]!
              const { generation } = yield* create(yield* request(account, { key: `${n}` }))
              return (yield* get(account.id, generation.id)).id === generation.id
            }).pipe(inTransaction)
          )
          assert.isTrue(found.every((isFound) => isFound))
        }))
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** More than the connections of each pool, so that calls wait for one. */
const concurrency = 40

const concurrently = <A, E, R>(call: (n: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: calls }, (_, n) => n), call, { concurrency })

/** Id of a job that runs in no transaction. */
const another = "00000000-0000-7000-8000-000000000000"

const isRolledBack = (n: number): boolean => n % 4 === 0

/** Ignores the end of a call that rolls back. Every other failure fails the test. */
const exceptRolledBack = (n: number) => <A, E, R>(call: Effect.Effect<A, E, R>) =>
  isRolledBack(n) ? Effect.exit(call) : call

/** Opens accounts whose slots and queue accept all calls. */
const openAccounts = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS request (generation uuid PRIMARY KEY)`
  return yield* Effect.forEach(Array.from({ length: accountsCount }), () => openAccount({ credits: 1_000 }))
})

const createAll = Effect.fnUntraced(function*(accounts: ReadonlyArray<Effect.Success<ReturnType<typeof openAccount>>>) {
  const { create } = yield* Generations
  return yield* concurrently((n) =>
    Effect.map(
      Effect.flatMap(request(accounts[n % accountsCount]!, { key: `${n}` }), create),
      ({ generation }): Generation => generation
    )
  )
})

const insertRow = Effect.fnUntraced(function*(id: Generation["id"]) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO request (generation) VALUES (${GenerationId.toUuid(id)}::uuid)`
})

/** Counts the committed requests, and the requests and generations (of this status) without a counterpart. */
const findInconsistent = Effect.fnUntraced(function*(
  accounts: ReadonlyArray<{ readonly id: string }>,
  status?: Generation["status"]
) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`
    SELECT count(requested.generation)::int AS count,
      count(*) FILTER (WHERE requested.generation IS NULL OR job.id IS NULL)::int AS inconsistent
    FROM (
      SELECT generation FROM request
      WHERE generation NOT IN (SELECT id FROM generation_job WHERE account <> ALL(${
    Rows.array("text", accounts.map(({ id }) => id))
  }))
    ) AS requested
    FULL JOIN (
      SELECT id FROM generation_job
      WHERE account = ANY(${Rows.array("text", accounts.map(({ id }) => id))})
        AND (${status ?? null}::text IS NULL OR status = ${status ?? null}::text)
    ) AS job ON job.id = requested.generation
  `.pipe(Rows.decodeAll(Schema.Struct({ count: Schema.Int, inconsistent: Schema.Int })))
  return found
})

/**
 * Asserts that each generation has its charge, its refund if it is refunded, and its job
 * unless it has ended, that there are no others, and that the books and the lane counters
 * agree with their entries.
 */
const assertSound = Effect.fnUntraced(function*(accounts: ReadonlyArray<{ readonly id: string }>) {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* Ledger.Ledger
  const scheduler = yield* Scheduler.Scheduler
  const ids = Rows.array("text", accounts.map(({ id }) => id))
  const generations = yield* sql`
    SELECT id, refunded, status IN ('completed', 'failed', 'cancelled') AS ended FROM generation_job
    WHERE account = ANY(${ids})
  `.pipe(Rows.decodeAll(Schema.Struct({ id: Schema.String, refunded: Schema.Boolean, ended: Schema.Boolean })))
  const transactions = yield* sql`
    SELECT kind, reference FROM ledger_transaction WHERE account = ANY(${ids}) AND kind <> 'grant'
  `.pipe(Rows.decodeAll(Schema.Struct({ kind: Schema.String, reference: Schema.String })))
  const jobs = yield* sql`SELECT id FROM scheduler_job WHERE group_id = ANY(${ids})`.pipe(
    Rows.decodeAll(Schema.Struct({ id: Schema.String }))
  )
  assert.deepStrictEqual(
    [
      ...transactions.map(({ kind, reference }) => `${kind} ${reference}`),
      ...jobs.map(({ id }) => `job ${GenerationId.fromUuid(id)}`)
    ].toSorted(),
    generations.flatMap(({ ended, id: uuid, refunded }) => {
      const id = GenerationId.fromUuid(uuid)
      return [`charge ${id}`, ...refunded ? [`refund ${id}`] : [], ...ended ? [] : [`job ${id}`]]
    }).toSorted()
  )
  assert.deepStrictEqual((yield* ledger.verify()).discrepancies, [])
  assert.deepStrictEqual(yield* scheduler.verify, [])
})
