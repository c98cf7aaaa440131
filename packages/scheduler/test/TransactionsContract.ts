/** Every folded operation belongs to the transaction of its caller, whoever opened it. */
import { assert, layer } from "@effect/vitest"
import { transactions } from "@kinora/persistence/testing"
import { Effect, Exit, type Layer, Queue, Result } from "effect"
import { SqlClient } from "effect/sql"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { type Backend, startWorker } from "./Fixture.ts"

const lanesCount = 8
const groupsCount = 4

export const suite = <E>(name: string, backend: Layer.Layer<Backend | SqlClient.SqlClient, E>, callers: number) => {
  const numbers = Array.from({ length: callers }, (_, n) => n)
  layer(backend)(`Transactions (${name})`, (it) => {
    for (const [transactionName, getTransaction] of Object.entries(transactions)) {
      for (const [operation, prepare] of operations) {
        it.effect(
          `${operation} commits and rolls back with the rows of its caller in ${transactionName}`,
          () =>
            Effect.gen(function*() {
              const scheduler = yield* Scheduler
              const transaction = yield* getTransaction
              const { isApplied, run } = yield* prepare(numbers)
              const rows = yield* makeRows
              const results = yield* Effect.forEach(
                numbers,
                (index) =>
                  rows.insert(index).pipe(
                    Effect.andThen(run(index)),
                    Effect.andThen(index % 4 === 0 ? Effect.fail("rolled back") : Effect.void),
                    transaction,
                    Effect.exit
                  ),
                { concurrency: "unbounded" }
              )
              results.forEach((exit, index) => assert.strictEqual(Exit.isSuccess(exit), index % 4 !== 0, String(exit)))
              const inserted = new Set(yield* rows.all)
              assert.strictEqual(inserted.size, callers * 3 / 4)
              const applied = yield* isApplied
              const inconsistent = results.flatMap((_, index) =>
                inserted.has(index) === applied.has(index) ? [] : index
              )
              assert.deepStrictEqual(inconsistent, [])
              assert.deepStrictEqual(yield* scheduler.verify, [])
            })
        )
      }

      it.effect(`concurrent calls inside one ${transactionName} never exceed the cap of a lane`, () =>
        Effect.gen(function*() {
          const scheduler = yield* Scheduler
          const transaction = yield* getTransaction
          const world = yield* makeWorld
          const running = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 3 })))
          const leases = yield* world.claim()
          const commands = Array.from({ length: 15 }, () => world.job({ cap: 3, waitingMax: 10 }))
          const enqueueAll = Effect.forEach(commands, (command) => Effect.result(scheduler.enqueue(command)), {
            concurrency: "unbounded"
          })
          const settleAll = Effect.forEach(leases, (lease) => scheduler.settle(lease), { concurrency: "unbounded" })
          const [enqueued] = yield* transaction(Effect.all([enqueueAll, settleAll], { concurrency: "unbounded" }))
          assert.strictEqual(running.length, leases.length)
          const jobs = yield* scheduler.find(commands.map(({ job }) => job))
          assert.strictEqual(jobs.length, enqueued.filter(Result.isSuccess).length)
          assert.strictEqual(jobs.filter(({ state }) => state === "queued").length, 3)
          assert.deepStrictEqual(yield* scheduler.verify, [])
        }))
    }

    it.effect("a worker settles each job once, together with the rows of its handler", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const rows = yield* makeRows
        const inserted = yield* Queue.unbounded<number>()
        let settled = 0
        const handler = JobHandler.make({
          kind: world.kind,
          run: ({ payload }) => Effect.succeed(payload.n),
          failed: () => Effect.succeed(-1),
          settle: Effect.fnUntraced(function*(settlements) {
            let lanes = yield* scheduler.load({ jobs: settlements.map(({ job }) => job) })
            for (const { job, outcome } of settlements) {
              const ended = Lanes.settle(lanes, job)
              if (Result.isFailure(ended)) continue
              lanes = ended.success.state
              yield* Effect.orDie(rows.insert(outcome))
              yield* Queue.offer(inserted, outcome)
            }
            yield* scheduler.save(lanes)
            // A set that is rolled back after its writes is settled again, one job at a time.
            if (settlements.length > 1 && ++settled % 4 === 0) return yield* Effect.die("rolled back")
          })
        })
        const terms = { name: "worker", handlers: [handler], concurrency: 16 }
        yield* Effect.forEach(numbers, (n) => scheduler.enqueue(jobOf(world, n)), { concurrency: "unbounded" })
        yield* Effect.scoped(Effect.gen(function*() {
          yield* startWorker(terms)
          yield* Effect.forEach(numbers, () => Queue.take(inserted), { discard: true })
        }))
        const left = yield* existing(world, numbers)
        const ended = new Set(yield* rows.all)
        assert.deepStrictEqual(numbers.filter((n) => ended.has(n) === left.has(n)), [])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type World = Effect.Success<typeof makeWorld>

type Numbers = ReadonlyArray<number>

const idOf = (world: World, n: number) => world.id(n + 1)

const jobOf = (world: World, n: number) =>
  world.job({
    job: idOf(world, n),
    lane: `${world.lane}-${n % lanesCount}`,
    group: `${world.group}-${n % groupsCount}`,
    cap: 1_000,
    waitingMax: 1_000,
    payload: { n }
  })

const enqueueAll = Effect.fnUntraced(function*(world: World, numbers: Numbers) {
  const scheduler = yield* Scheduler
  yield* Effect.forEach(numbers, (n) => scheduler.enqueue(jobOf(world, n)), { concurrency: "unbounded" })
})

const claimAll = Effect.fnUntraced(function*(world: World, numbers: Numbers) {
  yield* enqueueAll(world, numbers)
  const claimed = yield* world.claim({ limit: numbers.length })
  return new Map(claimed.map((job) => [job.job, job]))
})

/** The numbers of the jobs that exist, or that do not. */
const existing = (world: World, numbers: Numbers) =>
  Scheduler.use((scheduler) =>
    Effect.map(scheduler.find(numbers.map((n) => idOf(world, n))), (jobs) => {
      const found = new Set(jobs.map(({ job }) => job))
      return new Set(numbers.filter((n) => found.has(idOf(world, n))))
    })
  )

const ended = (world: World, numbers: Numbers) =>
  Effect.map(existing(world, numbers), (existing) => new Set(numbers.filter((n) => !existing.has(n))))

/** Each folded operation: how one of `numbers` runs it, and for which of them it was applied. */
const operations = [
  [
    "enqueue",
    Effect.fnUntraced(function*(numbers: Numbers) {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      return {
        run: (n: number) => Effect.asVoid(scheduler.enqueue(jobOf(world, n))),
        isApplied: existing(world, numbers)
      }
    })
  ],
  [
    "cancel",
    Effect.fnUntraced(function*(numbers: Numbers) {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* enqueueAll(world, numbers)
      return { run: (n: number) => Effect.asVoid(scheduler.cancel(idOf(world, n))), isApplied: ended(world, numbers) }
    })
  ],
  [
    "settle",
    Effect.fnUntraced(function*(numbers: Numbers) {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const jobs = yield* claimAll(world, numbers)
      return {
        run: (n: number) => Effect.asVoid(scheduler.settle(jobs.get(idOf(world, n))!)),
        isApplied: ended(world, numbers)
      }
    })
  ],
  [
    "checkpoint",
    Effect.fnUntraced(function*(numbers: Numbers) {
      const scheduler = yield* Scheduler
      const sql = yield* SqlClient.SqlClient
      const world = yield* makeWorld
      const jobs = yield* claimAll(world, numbers)
      const stored = Effect.map(
        sql<{ n: number }>`
        SELECT (checkpoint #>> '{}')::int4 AS n FROM scheduler_job
        WHERE lane_id LIKE ${`${world.lane}-%`} AND checkpoint IS NOT NULL
      `,
        (rows) => new Set(rows.map(({ n }) => n))
      )
      return {
        run: (n: number) => scheduler.checkpoint({ ...jobs.get(idOf(world, n))!, checkpoint: n }),
        isApplied: stored
      }
    })
  ]
] as const

/** Rows of the caller, in a table of its own. */
const makeRows = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const set = `set-${++sets}`
  yield* sql`CREATE TABLE IF NOT EXISTS caller_row (set text, n int4, PRIMARY KEY (set, n))`
  return {
    insert: (n: number) => sql`INSERT INTO caller_row (set, n) VALUES (${set}, ${n})`,
    all: Effect.map(sql<{ n: number }>`SELECT n FROM caller_row WHERE set = ${set}`, (rows) => rows.map(({ n }) => n))
  }
})

let sets = 0
