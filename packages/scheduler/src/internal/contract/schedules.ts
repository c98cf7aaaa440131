/** Tests of cron schedules. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as CronSchedule from "../../CronSchedule.ts"
import { Scheduler } from "../../Scheduler.ts"
import { SchedulerStore } from "../../SchedulerStore.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld } from "./world.ts"

/** Registers tests of ticks. */
export const tickTests = (test: Register): void => {
  test("enqueues each tick once, at its time, when many processes check at the same moment", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeScheduled
      const schedule = world.schedule({ cap: 10 })
      const look = Effect.forEach([1, 2, 3, 4, 5, 6], () => scheduler.enqueueTicks([schedule]), { concurrency: 6 })
      yield* look
      for (const _ of [1, 2, 3, 4]) {
        yield* TestClock.adjust(59_999)
        yield* look
        assert.deepStrictEqual(yield* world.taken, [])
        yield* TestClock.adjust(1)
        yield* look
        assert.deepStrictEqual(yield* world.taken, [yield* minute])
      }
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("begins when a process has the schedule for the first time, and returns the time until its next tick", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeScheduled
      yield* TestClock.adjust("90 seconds")
      const [minutely, hourly] = [world.schedule({}), world.schedule({ name: `${world.lane}-h`, cron: "0 * * * *" })]
      const next = yield* scheduler.enqueueTicks([hourly, minutely])
      assert.strictEqual(Duration.toMillis(next), 30_000)
      assert.deepStrictEqual(yield* world.taken, [])
      yield* TestClock.adjust(next)
      assert.strictEqual(Duration.toMillis(yield* scheduler.enqueueTicks([hourly, minutely])), 60_000)
      assert.deepStrictEqual(yield* world.taken, [yield* minute])
    }))

  test("enqueues the last of several missed ticks, or as many as it may catch up, unless they are too late", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeScheduled
      const due = Effect.fnUntraced(function*(options: Options) {
        const schedule = world.schedule({ name: world.id(), cap: 100, ...options })
        yield* scheduler.enqueueTicks([schedule])
        yield* TestClock.adjust("10 minutes")
        yield* TestClock.adjust("30 seconds")
        const now = yield* minute
        yield* scheduler.enqueueTicks([schedule])
        yield* scheduler.enqueueTicks([schedule])
        const ticks = (yield* world.taken).map((tick) => tick - now)
        yield* TestClock.adjust("30 seconds")
        return ticks
      })
      assert.deepStrictEqual(yield* due({}), [0])
      assert.deepStrictEqual(yield* due({ catchUp: 3 }), [-2, -1, 0])
      assert.deepStrictEqual(yield* due({ catchUp: 100 }), [-9, -8, -7, -6, -5, -4, -3, -2, -1, 0])
      assert.deepStrictEqual(yield* due({ catchUp: 100, lateMax: "90 seconds" }), [-1, 0])
      assert.deepStrictEqual(yield* due({ lateMax: "29 seconds" }), [])
    }))
}

/** Registers tests of schedules that are ahead, and of unique keys. */
export const aheadTests = (test: Register): void => {
  test("begins again if it is more than a day ahead, since the clock of the database was", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const store = yield* SchedulerStore
      const world = yield* makeScheduled
      const schedule = world.schedule({})
      const aheadBy = Effect.fnUntraced(function*(time: Duration.Input) {
        const { handled: [found], now } = yield* store.schedules([schedule.name])
        yield* store.advance({ name: schedule.name, from: found!.handledUntil, to: DateTime.addDuration(now, time) })
        yield* scheduler.enqueueTicks([schedule])
        assert.deepStrictEqual(yield* world.taken, [])
        yield* TestClock.adjust("1 minute")
        yield* scheduler.enqueueTicks([schedule])
      })
      yield* aheadBy("366 days")
      assert.deepStrictEqual(yield* world.taken, [yield* minute])
      // A clock that was set back by less must not repeat ticks.
      yield* aheadBy("1 day")
      assert.deepStrictEqual(yield* world.taken, [])
    }))

  test("skips a tick while the job of an earlier one has its unique key", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeScheduled
      const schedule = world.schedule({ cap: 10, catchUp: 5, unique: { key: "tick" } })
      yield* scheduler.enqueueTicks([schedule])
      yield* TestClock.adjust("3 minutes")
      const first = yield* minute
      yield* scheduler.enqueueTicks([schedule])
      yield* scheduler.enqueueDue(1_000)
      const [running] = yield* world.claim({ ttl: "1 day" })
      assert.deepStrictEqual(running?.payload, { n: first - 2 })
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueTicks([schedule])
      assert.deepStrictEqual(yield* world.taken, [])
      yield* scheduler.settle(running!)
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueTicks([schedule])
      assert.deepStrictEqual(yield* world.taken, [first + 2])
    }))
}

/** Registers tests of ticks whose jobs are refused or undone. */
export const undoneTickTests = (test: Register): void => {
  test("keeps the job of a tick while the queue is full", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeScheduled
      const running = yield* scheduler.enqueue(world.job())
      const schedule = world.schedule({ waitingMax: 0 })
      yield* scheduler.enqueueTicks([schedule])
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueTicks([schedule])
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(yield* world.claim().pipe(Effect.map(ids)), [running.job])
      yield* scheduler.requeue(running.job)
      yield* world.claim().pipe(Effect.flatMap(Effect.forEach((job) => scheduler.settle(job))))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* world.taken, [yield* minute])
    }))

  test("enqueues the job of a tick again if its unit was undone", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeScheduled
      const schedule = world.schedule({})
      yield* scheduler.enqueueTicks([schedule])
      yield* TestClock.adjust("1 minute")
      const unit = atomically(Effect.andThen(scheduler.enqueueTicks([schedule]), Effect.fail("stop" as const)))
      assert.strictEqual(yield* Effect.flip(unit), "stop")
      assert.deepStrictEqual(yield* world.taken, [])
      yield* scheduler.enqueueTicks([schedule])
      assert.deepStrictEqual(yield* world.taken, [yield* minute])
    }))

  test("tries a schedule again that fails, and enqueues the jobs of the others", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeScheduled
      let isBroken = true
      const broken = world.schedule({
        payload: (tick) => {
          if (isBroken) throw new Error("a bug")
          return { n: tick.epochMilliseconds / 60_000 }
        }
      })
      const other = world.schedule({ name: `${world.lane}-other`, lane: `${world.lane}-other` })
      yield* scheduler.enqueueTicks([broken, other])
      yield* TestClock.adjust("1 minute")
      const now = yield* minute
      assert.strictEqual(Duration.toMillis(yield* scheduler.enqueueTicks([broken, other])), 5_000)
      assert.deepStrictEqual(yield* world.taken, [now])
      isBroken = false
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(Duration.toMillis(yield* scheduler.enqueueTicks([broken, other])), 55_000)
      assert.deepStrictEqual(yield* world.taken, [now])
    }))
}

/** Registers the test of advances. */
export const advanceTests = (test: Register): void => {
  test("advances a schedule once from the time at which it is, unless the unit is undone", () =>
    Effect.gen(function*() {
      const store = yield* SchedulerStore
      const { atomically } = yield* UnitOfWork
      const { lane: name } = yield* makeWorld
      const at = Effect.map(store.schedules([name]), ({ handled }) => handled[0]!.handledUntil)
      const from = yield* at
      assert.deepStrictEqual(from, yield* DateTime.now)
      const to = DateTime.add(from, { minutes: 1 })
      const advance = store.advance({ name, from, to })
      yield* atomically(Effect.andThen(advance, Effect.fail("undone"))).pipe(Effect.flip)
      assert.deepStrictEqual(yield* at, from)
      const advanced = yield* Effect.all([advance, advance, advance, advance], { concurrency: "unbounded" })
      assert.strictEqual(advanced.filter(Boolean).length, 1)
      assert.deepStrictEqual(yield* at, to)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Payload = { readonly n: number }

type Options = Partial<Parameters<typeof CronSchedule.make<Payload>>[0]>

/** Whole minutes since 1970. */
const minute = Effect.map(DateTime.now, (now) => Math.floor(now.epochMilliseconds / 60_000))

/** A world with schedules whose payloads are the minutes of their ticks. */
const makeScheduled = Effect.gen(function*() {
  const scheduler = yield* Scheduler
  const world = yield* makeWorld
  // The tests share the clock. Each one begins with a minute.
  yield* TestClock.adjust(60_000 - (yield* DateTime.now).epochMilliseconds % 60_000)
  return {
    ...world,
    /** A schedule of every minute. */
    schedule: (options: Options) => {
      const { job: _, payload: __, ...command } = world.job()
      return CronSchedule.make<Payload>({
        ...command,
        name: world.lane,
        cron: "* * * * *",
        payload: (tick) => ({ n: tick.epochMilliseconds / 60_000 }),
        ...options
      })
    },
    /** Runs the jobs that are due, and returns their payloads. */
    taken: Effect.gen(function*() {
      yield* scheduler.enqueueDue(1_000)
      const jobs = yield* world.claim({ limit: 200 })
      yield* Effect.forEach(jobs, (job) => scheduler.settle(job))
      return jobs.map(({ payload }) => (payload as Payload).n)
    })
  }
})
