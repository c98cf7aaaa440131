/** Cron schedules: which ticks are enqueued, once over all processes. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as CronSchedule from "../src/CronSchedule.ts"
import * as JobHandler from "../src/JobHandler.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import { type Backend, ids, makeWorld, startWorker } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Cron schedules (${name})`, (it) => {
    it.effect("enqueues each tick once, at its time, when many processes look at the same moment", () =>
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

    it.effect("begins when a process has the schedule for the first time, and returns the time until its next tick", () =>
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

    it.effect("enqueues the last of several missed ticks, or as many as it may catch up, unless they are too late", () =>
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

    it.effect("begins again if it is more than a day ahead, since the clock of the database was", () =>
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

    it.effect("skips a tick while the job of an earlier one has its unique key", () =>
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

    it.effect("keeps the job of a tick while the queue is full", () =>
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

    it.effect("enqueues the job of a tick again if its unit was undone", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
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

    it.effect("tries a schedule again that fails, and enqueues the jobs of the others", () =>
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

    it.effect("runs the job of each tick once while several layers have the schedule", () =>
      Effect.gen(function*() {
        const world = yield* makeScheduled
        const ran: Array<number> = []
        const handler = JobHandler.make({
          kind: world.kind,
          run: ({ payload }) => Effect.sync(() => ran.push(payload.n)),
          failed: () => Effect.succeed(0)
        })
        const { layer } = CronSchedule
        const schedules = [world.schedule({ cap: 10, catchUp: 100 })]
        const first = (yield* minute) + 1
        // The row of the schedule, which the layers create otherwise.
        yield* (yield* Scheduler).enqueueTicks(schedules)
        yield* Effect.forEach([1, 2, 3], () =>
          Effect.forkScoped(Effect.scoped(Effect.gen(function*() {
            yield* Layer.build(layer({ schedules }))
            return yield* Effect.never
          }))))
        yield* startWorker({ name: "worker", handlers: [handler], pollInterval: "1 second", lease: "1 day" })
        yield* Effect.repeat(TestClock.adjust(500), { until: () => ran.length >= 5 })
        assert.deepStrictEqual(ran.slice(0, 5), [first, first + 1, first + 2, first + 3, first + 4])
        assert.strictEqual(new Set(ran).size, ran.length)
      }).pipe(Effect.scoped), 60_000)

    it.effect("rejects too many schedules of a layer, and two of one name", () =>
      Effect.gen(function*() {
        const world = yield* makeScheduled
        const many = Array.from({ length: 101 }, (_, n) => world.schedule({ name: `schedule-${n}` }))
        for (const schedules of [many, [many[0]!, many[0]!]]) {
          const exit = yield* Effect.exit(Layer.build(CronSchedule.layer({ schedules })))
          assert.match(String(exit), /at most 100 schedules, with different names/)
        }
        yield* Layer.build(CronSchedule.layer({ schedules: [] }))
      }).pipe(Effect.scoped))
  })

type Payload = { readonly n: number }

type Options = Partial<CronSchedule.CronScheduleOptions<Payload>>

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
