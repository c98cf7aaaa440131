/** Tests of slots and queues. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Duration, Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, stateOf } from "./world.ts"

/** Registers tests of caps and of slots that become free. */
export const slotTests = (test: Register): void => {
  test("gives slots up to the cap, queues the next jobs, and refuses jobs beyond the limit of the group", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const enqueue = (lane: string) =>
        scheduler.enqueue(world.job({ lane: `${world.lane}-${lane}`, cap: 2, waitingMax: 3 }))
      const states = yield* Effect.forEach(["a", "a", "a", "b", "b", "b", "a"], enqueue)
      assert.deepStrictEqual(
        states.map(({ state }) => state),
        ["queued", "queued", "pending", "queued", "queued", "pending", "pending"]
      )
      const reason = yield* refusal(enqueue("b"))
      if (reason._tag !== "QueueFull") return assert.fail(reason._tag)
      assert.deepStrictEqual([reason.group, reason.waiting, reason.max], [world.group, 3, 3])
      assert.strictEqual((yield* enqueue("c")).state, "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("promotes the oldest job in the unit that frees its slot", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const [first, second, third] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job()))
      const [claimed] = yield* world.claim()
      assert.strictEqual(claimed?.job, first?.job)
      const saved = yield* atomically(Effect.gen(function*() {
        const lanes = yield* scheduler.load({ jobs: [claimed!] })
        return yield* scheduler.save(Result.getOrThrow(Lanes.settle(lanes, claimed!)).state)
      }))
      assert.deepStrictEqual(saved.promoted, [second!.job])
      assert.deepStrictEqual(
        yield* Effect.forEach([first!.job, second!.job, third!.job], stateOf),
        [undefined, "queued", "pending"]
      )
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("promotes jobs when the cap is raised, and takes no slot away when it is lowered", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const jobs = yield* Effect.forEach([1, 2, 3, 4], () => scheduler.enqueue(world.job()))
      const states = () => Effect.forEach(jobs, ({ job }) => stateOf(job))
      yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 3 })
      assert.deepStrictEqual(yield* states(), ["queued", "queued", "queued", "pending"])
      yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 1 })
      yield* scheduler.cancel(jobs[0]!.job)
      assert.deepStrictEqual(yield* states(), [undefined, "queued", "queued", "pending"])
      // The next job sets the cap too.
      const last = yield* scheduler.enqueue(world.job({ cap: 4 }))
      assert.deepStrictEqual(yield* states(), [undefined, "queued", "queued", "queued"])
      assert.strictEqual(yield* stateOf(last.job), "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of decisions, and of jobs that got their slots later. */
export const decisionTests = (test: Register): void => {
  test("checks the room for a job like it would be decided, and creates no lane", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const terms = { cap: 1, waitingMax: 1 }
      const lanes = ["a", "a", "b", "a", "b", "c"].map((lane) => `${world.lane}-${lane}`)
      for (const lane of lanes) {
        const checked = yield* Effect.result(scheduler.checkRoom({ lane, group: world.group, ...terms }))
        const enqueued = yield* Effect.result(scheduler.enqueue(world.job({ lane, ...terms })))
        assert.deepStrictEqual(Result.map(enqueued, () => undefined), checked)
      }
      const [lane] = lanes
      const full = yield* refusal(scheduler.checkRoom({ lane: lane!, group: world.group, ...terms }))
      assert.deepInclude(full, { _tag: "QueueFull", waiting: 1, max: 1 })
      // A higher cap gives the waiting job a slot.
      yield* scheduler.checkRoom({ lane: lane!, group: world.group, ...terms, cap: 2 })
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("writes nothing of a decision that is not adopted, or of a unit that fails", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const [dropped, undone] = [world.job(), world.job()]
      yield* atomically(Effect.gen(function*() {
        const lanes = yield* scheduler.load({ lanes: [dropped] })
        assert.isTrue(Result.isSuccess(Lanes.enqueue(lanes, dropped)))
        yield* scheduler.save(lanes)
      }))
      yield* Effect.flip(atomically(Effect.andThen(scheduler.enqueue(undone), Effect.fail("no"))))
      assert.deepStrictEqual(yield* scheduler.find([dropped.job, undone.job]), [])
      assert.strictEqual((yield* scheduler.enqueue(world.job())).state, "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("counts jobs that got their slots when others ended or the cap was raised", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [crowd, other] = [{ lane: `${world.lane}-crowd` }, { lane: `${world.lane}-other`, cap: 9 }]
      const jobs = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => scheduler.enqueue(world.job({ ...crowd, cap: 2 })))
      const [first] = yield* world.claim({ limit: 1 })
      yield* scheduler.settle(first!)
      yield* scheduler.setCap({ ...crowd, group: world.group, cap: 4 })
      const others = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job(other)))
      const fair = [jobs[1]!, others[0]!, jobs[2]!, others[1]!, jobs[3]!, others[2]!, jobs[4]!]
      assert.deepStrictEqual(ids(yield* world.claim()), ids(fair))
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of the options and the ids of jobs. */
export const enqueuedTests = (test: Register): void => {
  test("returns enqueued jobs with their options when they are claimed", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* TestClock.adjust("1 hour")
      const command = world.job({ payload: { n: 7 }, attemptsMax: 5, timeLimit: "10 minutes" })
      const start = yield* DateTime.now
      yield* scheduler.enqueue(command)
      yield* TestClock.adjust("1 minute")
      const [claimed] = yield* world.claim()
      assert.deepStrictEqual<unknown>(
        { ...claimed!, timeLimit: Option.map(claimed!.timeLimit, Duration.toMillis) },
        {
          job: command.job,
          lane: world.lane,
          group: world.group,
          kind: world.kind.name,
          payload: { n: 7 },
          checkpoint: Option.none(),
          epoch: 1,
          attempt: 1,
          attemptsMax: 5,
          failures: 0,
          enqueuedAt: start,
          startedAt: DateTime.add(start, { minutes: 1 }),
          claimedAt: DateTime.add(start, { minutes: 1 }),
          timeLimit: Option.some(600_000)
        }
      )
      const [status] = yield* scheduler.find([command.job])
      assert.deepStrictEqual([status?.state, status?.worker], ["running", Option.some("test")])
    }))

  test("does not enqueue an id twice", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const { job } = yield* scheduler.enqueue(world.job())
      const error = yield* Effect.flip(scheduler.enqueue(world.job({ job })))
      assert.isTrue(error._tag === "StorageError" && !error.isRetryable)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}
