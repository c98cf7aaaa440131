/** Jobs that end in one statement, while others change their lanes and jobs. */
import { assert, layer } from "@effect/vitest"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch, Random, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { ids, makeWorld, stateOf } from "../src/internal/contract/world.ts"
import { settleAndClaimStatement } from "../src/internal/sql/settleAndClaim.ts"
import type { ClaimedJob } from "../src/Job.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

layer(over(TestDatabase.postgres))("Jobs that end in one statement", (it) => {
  it.effect("are left if their lane changes after the snapshot of the statement, and before it locks the lane", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const scheduler = yield* Scheduler.Scheduler
      const { claim, job, kind } = yield* makeWorld
      yield* scheduler.enqueue(job())
      const running = yield* claim({ ttl: "1 hour" })
      const waiting = job()
      yield* scheduler.enqueue(waiting)
      const kinds = [kind.name]
      const lease = yield* scheduler.takeLease({ id: "worker", worker: "test", kinds, slots: 1, ttl: "1 hour" })
      const terms = { lease, worker: "test", kinds, limit: 1 }
      const first = job({ priority: 1 })
      const statement = settleAndClaimStatement(sql, running, terms, yield* DatabaseTime.now)
      const rows = yield* pausedDuring(statement, scheduler.enqueue(first))
      assert.deepStrictEqual((yield* decodeLeft(rows)).map(({ left }) => left), [ids(running)])
      yield* scheduler.settle(running[0]!)
      assert.deepStrictEqual([yield* stateOf(first.job), yield* stateOf(waiting.job)], ["queued", "pending"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(TestClock.withLive))

  it.effect("are left if their group changes after the snapshot of the statement, and before it locks the group", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const scheduler = yield* Scheduler.Scheduler
      const { claim, job, kind, lane } = yield* makeWorld
      yield* scheduler.enqueue(job())
      const running = yield* claim({ ttl: "1 hour" })
      const waiting = job()
      yield* scheduler.enqueue(waiting)
      yield* scheduler.enqueue(job({ lane: `${lane}-other` }))
      const kinds = [kind.name]
      const lease = yield* scheduler.takeLease({ id: "groups", worker: "test", kinds, slots: 1, ttl: "1 hour" })
      const terms = { lease, worker: "test", kinds, limit: 1 }
      const statement = settleAndClaimStatement(sql, running, terms, yield* DatabaseTime.now)
      // It waits, so it is counted by the group.
      const rows = yield* pausedDuring(statement, scheduler.enqueue(job({ lane: `${lane}-other` })))
      assert.deepStrictEqual((yield* decodeLeft(rows)).map(({ left }) => left), [ids(running)])
      assert.deepStrictEqual(yield* scheduler.verify, [])
      yield* scheduler.settle(running[0]!)
      assert.strictEqual(yield* stateOf(waiting.job), "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(TestClock.withLive))

  it.effect("are left if others have locked them, and do not deadlock with these", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const scheduler = yield* Scheduler.Scheduler
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const { claim, job } = yield* makeWorld
      yield* Effect.forEach([1, 2], () => scheduler.enqueue(job({ cap: 2 })))
      const [first, second] = yield* claim({ ttl: "1 hour" })
      const [isLocked, isSent] = [yield* Latch.make(), yield* Latch.make()]
      const unit = yield* scheduler.checkpoint({ ...first!, checkpoint: 1 }).pipe(
        Effect.andThen(isLocked.open),
        Effect.andThen(isSent.await),
        Effect.andThen(scheduler.checkpoint({ ...second!, checkpoint: 1 })),
        Effect.exit,
        atomically,
        Effect.forkChild
      )
      yield* isLocked.await
      const settling = yield* Effect.forkChild(scheduler.settleAndClaim([second!, first!]), { startImmediately: true })
      // A deadlock needs that it waits. Without one it has ended by then.
      yield* Effect.repeat(sql`SELECT pg_sleep(0.01)`, { times: 20 })
      yield* isSent.open
      const checkpoint = yield* Fiber.join(unit)
      const { left } = yield* Fiber.join(settling)
      assert.deepStrictEqual([checkpoint._tag, left], ["Failure", [first!.job]])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(TestClock.withLive))

  it.effect("keep the caps, and lose no job and start none twice, while many callers change the same lanes", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const crowd = yield* makeCrowd
      // In one snapshot each.
      const audit = Effect.map(scheduler.verify, (drifts) => assert.deepStrictEqual(drifts, []))
      const audits = yield* Effect.forkChild(Effect.forever(audit))
      yield* Effect.forEach(Array.from({ length: callers }), () => Effect.repeat(crowd.turn, { times: turns }), {
        concurrency: "unbounded",
        discard: true
      })
      assert.isUndefined(audits.pollUnsafe())
      yield* Fiber.interrupt(audits)
      yield* audit
      const found = yield* scheduler.find(Array.from(crowd.left))
      assert.strictEqual(found.length, crowd.left.size)
      assert.deepStrictEqual(
        found.filter(({ state }) => state === "running").map(({ epoch, job }) => `${job}/${epoch}`).toSorted(),
        Array.from(crowd.running.keys()).toSorted()
      )
      assert.isAbove(crowd.refills(), 0)
    }).pipe(TestClock.withLive))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Runs the statement, and `change` after the statement has taken its snapshot and before it locks lanes. */
const pausedDuring = Effect.fnUntraced(function*<E, R>(
  statement: Statement.Statement<unknown>,
  change: Effect.Effect<unknown, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const [isHeld, end] = [yield* Latch.make(), yield* Latch.make()]
  const pause = yield* sql`SELECT pg_advisory_xact_lock(${pauseKey})`.pipe(
    Effect.andThen(isHeld.open),
    Effect.andThen(end.await),
    sql.withTransaction,
    Effect.forkChild
  )
  yield* isHeld.await
  const [text, parameters] = statement.compile()
  const paused = text.replace(
    /JOIN \S*scheduler_group\S* AS lane_group/,
    (join) => `CROSS JOIN (SELECT pg_advisory_xact_lock_shared(${pauseKey})) AS pause ${join}`
  )
  assert.include(paused, "AS pause")
  const running = yield* Effect.forkChild(sql.unsafe(paused, parameters), { startImmediately: true })
  yield* Effect.repeat(
    sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
    { until: (rows) => rows.length > 0 }
  )
  yield* change
  yield* end.open
  yield* Fiber.join(pause)
  return yield* Fiber.join(running)
})

/** Callers that enqueue, claim, end, cancel and release jobs of a few lanes, and set their caps. */
const makeCrowd = Effect.gen(function*() {
  const scheduler = yield* Scheduler.Scheduler
  const { job, kind, lane } = yield* makeWorld
  const kinds = [kind.name]
  const lease = yield* scheduler.takeLease({ id: lane, worker: "test", kinds, slots: 8, ttl: "1 hour" })
  const terms = { lease, worker: "test", kinds }
  const laneOf = (n: number) => ({ lane: `${lane}-${n}`, group: `${lane}-${n % 2}` })
  /** Jobs that have not ended. */
  const left = new Set<string>()
  const running = new Map<string, ClaimedJob>()
  let refills = 0

  const add = (claimed: ReadonlyArray<ClaimedJob>) => {
    for (const job of claimed) {
      const key = `${job.job}/${job.epoch}`
      assert.isFalse(running.has(key))
      running.set(key, job)
    }
  }
  /** Takes some of the running jobs, so that no other caller has them. */
  const take = Effect.fnUntraced(function*(count: number) {
    const keys = yield* Random.shuffle(running.keys())
    return keys.slice(0, count).flatMap((key) => {
      const job = running.get(key)
      return running.delete(key) && job !== undefined ? [job] : []
    })
  })

  const settle = Effect.gen(function*() {
    const jobs = yield* take(3)
    const settled = yield* scheduler.settleAndClaim(jobs, { ...terms, limit: jobs.length })
    add(settled.claimed)
    refills += settled.claimed.length
    yield* Effect.forEach(jobs.filter(({ job }) => settled.left.includes(job)), scheduler.settle, { discard: true })
    for (const { job } of jobs) left.delete(job)
  })
  const enqueue = Effect.gen(function*() {
    const n = yield* Random.nextIntBetween(0, 4)
    const priority = yield* Random.nextIntBetween(0, 2)
    const command = job({ ...laneOf(n), cap: 2, priority, waitingMax: Infinity })
    // Before the response, since another caller can claim and end the job at once.
    left.add(command.job)
    yield* scheduler.enqueue(command)
  })
  const cancel = Effect.gen(function*() {
    const [job] = yield* Random.shuffle(left)
    if (job === undefined) return
    yield* scheduler.cancel(job)
    left.delete(job)
  }).pipe(
    // It runs, it is not enqueued yet, or another caller has ended it.
    Effect.catchTag("SchedulerError", () => Effect.void)
  )
  const setCap = Effect.gen(function*() {
    yield* scheduler.setCap({ ...laneOf(yield* Random.nextIntBetween(0, 4)), cap: yield* Random.nextIntBetween(1, 4) })
  })
  const turn = Effect.gen(function*() {
    const choice = yield* Random.next
    if (choice < 0.45) return yield* enqueue
    if (choice < 0.75) return yield* settle
    if (choice < 0.78) return yield* cancel
    if (choice < 0.8) return yield* setCap
    if (choice < 0.82) return yield* scheduler.release(yield* take(2))
    add(yield* scheduler.claim({ ...terms, limit: 20 }))
  })
  return { left, running, refills: () => refills, turn: Effect.asVoid(turn) }
})

const callers = 10
const turns = 60

const pauseKey = 4711

const decodeLeft = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ left: Schema.Array(Schema.String) })))
