/** Cron schedules: which ticks are enqueued, once over all processes. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as CronSchedule from "../src/CronSchedule.ts"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { type Backend, startWorker } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Cron schedules (${name})`, (it) => {
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
