/** Workers whose clocks differ from the clock of the database by more than the leases and time limits of their jobs. */
import { assert, layer } from "@effect/vitest"
import { DatabaseTime } from "@kinora/persistence"
import { SkewedClock, TestTime } from "@kinora/testkit"
import { Cause, Context, Data, Duration, Effect, Layer, Option } from "effect"
import { ids, makeWorld, stateOf } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Scheduler from "../src/Scheduler.ts"
import * as Wakeup from "../src/Wakeup.ts"
import { type Backend, startWorker } from "./Fixture.ts"

/** How far the clocks of the hosts are ahead, in milliseconds. */
const skews = [120_000, -120_000] as const

/** Seconds that a job runs which never ends by itself. */
const endless = 1_000_000

class Busy extends Data.TaggedError("Busy") {}

type World = Effect.Success<typeof makeWorld>

/**
 * Starts a worker with room for six jobs on a host of its own, whose clock is ahead by `skew` milliseconds. It runs the jobs
 * without a pool, and those of the pool that has its name. A job runs for as many seconds as its payload, and one without
 * any fails at first.
 */
const startHost = Effect.fnUntraced(function*(world: World, skew: number, name = "skewed") {
  const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, skew)
  const started: Array<{ readonly job: string; readonly epoch: number; readonly attempt: number }> = []
  const completed: Array<string> = []
  /** Jobs, and why they failed. */
  const failed: Array<ReadonlyArray<string>> = []
  const handler = JobHandler.make<{ readonly n: number }, void, Busy>({
    kind: world.kind,
    pools: [name],
    run: Effect.fnUntraced(function*({ attempt, epoch, failures, job, payload: { n } }) {
      started.push({ job, epoch, attempt })
      if (n === 0 && failures === 0) return yield* new Busy()
      yield* Effect.delay(Effect.sync(() => completed.push(job)), Duration.seconds(n))
    }),
    retry: { attempts: 2, backoff: "30 seconds" },
    failed: ({ job }, cause) =>
      Effect.sync(() => {
        failed.push([job, Option.getOrThrow(Cause.findErrorOption(cause))._tag])
      })
  })
  const services = yield* onHost(
    Layer.build(Layer.fresh(Layer.provideMerge(Scheduler.layerWith(), Wakeup.layer)))
  )
  yield* startWorker({
    name,
    handlers: [handler],
    concurrency: 6,
    lease: "8 seconds",
    rescueInterval: "1 second",
    pollInterval: "1 second",
    grace: 0
  }).pipe(Effect.provideContext(services), onHost)
  // Once it sleeps, it takes the jobs that its host enqueues.
  yield* TestTime.rest
  const scheduler = Context.get(services, Scheduler.Scheduler)
  return {
    name,
    started,
    completed,
    failed,
    enqueue: (command: ReturnType<World["job"]>) => onHost(scheduler.enqueue(command))
  }
})

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Workers whose clocks differ (${name})`, (it) => {
    it.effect("complete jobs that outlast a lease in their first attempt, and end others at their time limits", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler.Scheduler
        const world = yield* makeWorld
        const hosts = [yield* startHost(world, skews[0], "ahead"), yield* startHost(world, skews[1], "behind")]
        const command = { cap: 12, timeLimit: "40 seconds" } as const
        // Each host starts one itself, and the workers claim the others.
        const late = yield* Effect.forEach(
          hosts,
          ({ enqueue, name }) =>
            enqueue(world.job({ ...command, kind: JobKind.pool(world.kind, name), payload: { n: endless } }))
        )
        yield* TestTime.rest
        assert.deepStrictEqual(hosts.map(({ started }) => ids(started)), late.map(({ job }) => [job]))
        const others = yield* Effect.forEach(
          Array.from({ length: 10 }),
          () => scheduler.enqueue(world.job({ ...command, payload: { n: 30 } }))
        )
        const jobs = ids([...late, ...others])

        yield* TestTime.pass("1 second")
        assert.deepStrictEqual(hosts.map(({ started }) => started.length), [6, 6])
        yield* TestTime.pass("38999 millis")
        assert.sameMembers(hosts.flatMap(({ completed }) => completed), ids(others))
        assert.deepStrictEqual(hosts.map(({ failed }) => failed), [[], []])
        assert.deepStrictEqual((yield* scheduler.find(jobs)).map(({ state }) => state), ["running", "running"])
        yield* TestTime.pass("1 millis")
        assert.deepStrictEqual(
          hosts.map(({ failed }) => failed),
          late.map(({ job }) => [[job, "TimeLimitExceeded"]])
        )
        assert.deepStrictEqual(yield* scheduler.find(jobs), [])

        // Nobody took a job from the other worker.
        yield* TestTime.pass("20 seconds")
        const started = hosts.flatMap(({ started }) => started)
        assert.sameMembers(ids(started), jobs)
        assert.deepStrictEqual(started.filter(({ attempt, epoch }) => attempt !== 1 || epoch !== 1), [])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    for (const skew of skews) {
      it.effect(`end the jobs of lost workers at their time limits, and run the last attempt in time (${skew} ms)`, () =>
        Effect.gen(function*() {
          const scheduler = yield* Scheduler.Scheduler
          const world = yield* makeWorld
          const onOther = SkewedClock.onHost(DatabaseTime.DatabaseClock, -skew)
          const command = { cap: 2, payload: { n: endless } } as const
          const long = yield* scheduler.enqueue(world.job({ ...command, timeLimit: "1 minute" }))
          const short = yield* scheduler.enqueue(world.job({ ...command, timeLimit: "20 seconds" }))
          for (const _ of ["first", "second"]) {
            assert.lengthOf(yield* onOther(world.claim({ ttl: "8 seconds" })), 2)
            yield* TestTime.pass("8 seconds")
            assert.lengthOf((yield* onOther(world.rescue())).requeued, 2)
          }
          // 16 seconds after the first start. The last attempts begin after 10 more.
          const { failed, started } = yield* startHost(world, skew)
          yield* TestTime.pass("3999 millis")
          assert.deepStrictEqual(failed, [])
          yield* TestTime.pass("2 seconds")
          assert.deepStrictEqual(failed, [[short.job, "TimeLimitExceeded"]])
          yield* TestTime.pass("4 seconds")
          assert.deepStrictEqual(started, [])
          yield* TestTime.pass("2 seconds")
          assert.deepStrictEqual(started, [{ job: long.job, epoch: 3, attempt: 3 }])
          yield* TestTime.pass("32 seconds")
          assert.strictEqual(yield* stateOf(long.job), "running")
          assert.lengthOf(failed, 1)
          // The claim was between two milliseconds, and the times of a job have whole ones.
          yield* TestTime.pass("2 millis")
          assert.deepStrictEqual(failed.slice(1), [[long.job, "TimeLimitExceeded"]])
          assert.deepStrictEqual(yield* scheduler.find(ids([long, short])), [])
          assert.deepStrictEqual(yield* scheduler.verify, [])
        }))

      it.effect(`start delayed jobs, and run failed ones again, after their pauses (${skew} ms)`, () =>
        Effect.gen(function*() {
          const scheduler = yield* Scheduler.Scheduler
          const world = yield* makeWorld
          const { completed, enqueue, failed, started } = yield* startHost(world, skew)
          const retried = yield* enqueue(world.job({ cap: 2, payload: { n: 0 } }))
          yield* TestTime.rest
          const delayed = yield* scheduler.enqueue({ ...world.job({ cap: 2, payload: { n: 1 } }), delay: "30 seconds" })
          yield* TestTime.pass("29999 millis")
          assert.deepStrictEqual(ids(started), [retried.job])
          const states = (yield* scheduler.find(ids([retried, delayed]))).map(({ state }) => state)
          assert.deepStrictEqual(states, ["delayed", "delayed"])
          yield* TestTime.pass("3 seconds")
          assert.sameMembers(ids(started), ids([retried, retried, delayed]))
          assert.sameMembers(completed, ids([retried, delayed]))
          assert.deepStrictEqual(failed, [])
          assert.deepStrictEqual(yield* scheduler.verify, [])
        }))
    }
  })
