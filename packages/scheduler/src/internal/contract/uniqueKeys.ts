/** Tests of unique keys. */
import { assert } from "@effect/vitest"
import * as Decision from "@kinora/persistence/Decision"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import type { ClaimedJob } from "../../Job.ts"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import { DuplicateJob } from "../reasons.ts"
import type { Delay } from "../requests.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, stateOf } from "./world.ts"

/** Registers tests of keys that are held and freed. */
export const uniqueKeyTests = (test: Register): void => {
  test("refuses a second job with the key in every state of the first one, and names the first one", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const blocking = yield* scheduler.enqueue(world.job())
      const first = yield* scheduler.enqueue({ ...world.job({ unique }), delay: "1 minute" })
      const refused = Effect.fnUntraced(function*(state: string) {
        assert.strictEqual(yield* stateOf(first.job), state)
        const duplicate = new DuplicateJob({ group: world.group, key: unique.key, job: first.job })
        for (const delay of [undefined, "1 hour"] as const) {
          // Another lane of the group, which has room.
          const other = world.job({ unique, lane: `${world.lane}-other` })
          assert.deepStrictEqual(yield* refusal(scheduler.enqueue({ ...other, delay })), duplicate)
        }
      })
      yield* refused("delayed")
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueDue(1_000)
      yield* refused("pending")
      yield* scheduler.cancel(blocking.job)
      yield* refused("queued")
      const [lost] = yield* world.claim({ ttl: "1 second" })
      yield* refused("running")
      yield* TestClock.adjust("1 second")
      yield* world.rescue()
      yield* refused("queued")
      const [again] = yield* world.claim()
      assert.strictEqual(again?.job, lost?.job)
      yield* retry(again!)
      yield* refused("delayed")
      yield* TestClock.adjust("1 second")
      yield* scheduler.enqueueDue(1_000)
      const [last] = yield* world.claim()
      yield* refused("running")
      yield* scheduler.settle(last!)
      assert.strictEqual((yield* scheduler.enqueue(world.job({ unique }))).state, "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("frees the key when its job is cancelled or aborted in any state", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const enqueue = (options: Delay = {}) => scheduler.enqueue({ ...world.job({ unique }), ...options })
      const cancelled = Effect.fnUntraced(function*(state: string, options?: Delay) {
        const { job } = yield* enqueue(options)
        assert.strictEqual((yield* scheduler.cancel(job)).state, state)
      })
      yield* cancelled("queued")
      yield* cancelled("delayed", { delay: "1 hour" })
      const blocking = yield* scheduler.enqueue(world.job())
      yield* cancelled("pending")
      yield* scheduler.cancel(blocking.job)
      yield* enqueue()
      const [running] = yield* world.claim()
      yield* inUnit(running!, Lanes.abort)
      yield* enqueue()
      const [failed] = yield* world.claim()
      yield* retry(failed!)
      yield* inUnit(failed!, Lanes.abort)
      yield* cancelled("queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of decisions. */
export const keyDecisionTests = (test: Register): void => {
  test("accepts the same key in another group, another key, and jobs without a key", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const other = { lane: `${world.lane}-other`, group: `${world.group}-other` }
      const commands = [{ unique }, { unique, ...other }, { unique: { key: "REINDEX" } }, {}, {}]
      for (const command of commands) yield* scheduler.enqueue(world.job({ cap: 5, ...command }))
      assert.strictEqual((yield* world.claim()).length, commands.length)
    }))

  test("changes nothing if it refuses a job", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job({ unique, weight: 2 }))
      const pending = yield* scheduler.enqueue(world.job({ weight: 2 }))
      const command = world.job({ unique, cap: 9, weight: 7 })
      for (const delay of [undefined, "1 hour"] as const) yield* refusal(scheduler.enqueue({ ...command, delay }))
      assert.strictEqual(yield* stateOf(pending.job), "pending")
      const [lane] = yield* scheduler.lanes({ group: world.group, limit: 1 })
      assert.deepInclude(lane, { cap: 1, weight: 2, queued: 1, pending: 1, delayed: 0 })
      assert.deepStrictEqual(yield* scheduler.find([command.job]), [])
      // The same command again is a duplicate of itself.
      const once = world.job({ unique: { key: "once" } })
      yield* scheduler.enqueue(once)
      assert.deepInclude(yield* refusal(scheduler.enqueue(once)), { _tag: "DuplicateJob", job: once.job })
    }))

  test("keeps the key while the queue is full when the job is due", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job())
      const { job } = yield* scheduler.enqueue({ ...world.job({ unique, waitingMax: 0 }), delay: "1 second" })
      yield* TestClock.adjust("1 second")
      yield* scheduler.enqueueDue(1_000)
      assert.strictEqual(yield* stateOf(job), "delayed")
      assert.deepInclude(yield* refusal(scheduler.enqueue(world.job({ unique }))), { _tag: "DuplicateJob", job })
      yield* scheduler.cancel(job)
    }))

  test("decides the keys of a set in order", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const before = yield* scheduler.enqueue(world.job({ unique }))
      const [again, other, twice] = [unique, { key: "other" }, { key: "other" }].map((unique) => world.job({ unique }))
      const results = yield* atomically(Effect.gen(function*() {
        const commands = [again!, other!, twice!]
        const lanes = yield* scheduler.load({ lanes: commands, jobs: [before] })
        const refused = Result.getOrThrow(Result.flip(Lanes.enqueue(lanes, again!)))
        assert.deepInclude(refused, { _tag: "DuplicateJob", job: before.job })
        const ended = Result.getOrThrow(Lanes.cancel(lanes, before.job))
        const { results, state } = Decision.all(ended.state, commands, Lanes.enqueue)
        yield* scheduler.save(state)
        return results
      }))
      assert.deepStrictEqual(results.map(Result.isSuccess), [true, true, false])
      const job = other!.job
      assert.deepInclude(yield* refusal(scheduler.enqueue(world.job({ unique: other!.unique }))), { job })
    }))
}

/** Registers tests of units of work. */
export const keyUnitTests = (test: Register): void => {
  test("rejects a key that was not loaded, and one that is empty or too long", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      yield* atomically(Effect.gen(function*() {
        const lanes = yield* scheduler.load({ lanes: [world] })
        assert.throws(() => Lanes.enqueue(lanes, world.job({ unique })), "was not loaded")
      }))
      for (const key of ["", "x".repeat(256)]) {
        const exit = yield* Effect.exit(scheduler.enqueue(world.job({ unique: { key } })))
        assert.match(String(exit), /1 to 255 characters/)
      }
      for (const key of ["x", "\u{1f4e6}".repeat(127)]) yield* scheduler.enqueue(world.job({ unique: { key } }))
    }))

  test("fails a unit that has loaded a key twice, and saves it twice", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      yield* scheduler.setCap({ ...world, cap: 1 })
      const [first, second] = [world.job({ unique }), world.job({ unique })]
      const unit = atomically(Effect.gen(function*() {
        const [one, two] = [yield* scheduler.load({ lanes: [first] }), yield* scheduler.load({ lanes: [second] })]
        yield* scheduler.save(Result.getOrThrow(Lanes.delay(one, { ...first, delay: "1 hour" })).state)
        yield* scheduler.save(Result.getOrThrow(Lanes.delay(two, { ...second, delay: "1 hour" })).state)
      }))
      assert.strictEqual((yield* Effect.flip(unit))._tag, "StorageError")
      assert.deepStrictEqual(yield* scheduler.find(ids([first, second])), [])
    }))

  test("frees the key of a job whose unit is rolled back", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const unit = Effect.andThen(scheduler.enqueue(world.job({ unique })), Effect.fail("stop" as const))
      assert.strictEqual(yield* Effect.flip(atomically(unit)), "stop")
      // A refusal does not doom the unit.
      const results = yield* atomically(Effect.all([
        Effect.result(scheduler.enqueue(world.job({ unique }))),
        Effect.result(scheduler.enqueue(world.job({ unique })))
      ]))
      assert.deepStrictEqual(results.map(Result.isSuccess), [true, false])
      assert.strictEqual((yield* world.claim()).length, 1)
    }))
}

/** Registers the test of concurrent jobs. */
export const concurrentKeyTests = (test: Register): void => {
  test("accepts one of many jobs that are enqueued at the same time", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const enqueue = (n: number) => {
        const command = world.job({ unique, lane: `${world.lane}-${n % 5}` })
        const enqueued = scheduler.enqueue(n % 3 === 0 ? { ...command, delay: "1 hour" } : command)
        return Effect.result(n % 2 === 0 ? enqueued : atomically(enqueued))
      }
      const results = yield* Effect.forEach(Array.from({ length: 40 }, (_, n) => n), enqueue, { concurrency: 8 })
      const accepted = results.filter(Result.isSuccess).map(({ success }) => success.job)
      assert.strictEqual(accepted.length, 1)
      for (const { failure } of results.filter(Result.isFailure)) {
        assert.deepInclude(failure, {
          reason: new DuplicateJob({ group: world.group, key: unique.key, job: accepted[0]! })
        })
      }
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unique = { key: "reindex" }

const inUnit = Effect.fnUntraced(function*<A, R>(
  job: ClaimedJob,
  decide: (lanes: Lanes.Lanes, job: string) => Decision.Decision<Lanes.Lanes, A, R>
) {
  const scheduler = yield* Scheduler
  const { atomically } = yield* UnitOfWork
  yield* atomically(Effect.gen(function*() {
    const { state } = Result.getOrThrow(decide(yield* scheduler.load({ jobs: [job] }), job.job))
    yield* scheduler.save(state)
  }))
})

/** Ends the run of a job, which is due again after a second. */
const retry = (job: ClaimedJob) => inUnit(job, (lanes) => Lanes.retry(lanes, { ...job, delay: "1 second" }))
