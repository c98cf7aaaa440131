/** Jobs that run again after a failure. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Data, DateTime, Duration, Effect, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import type { ClaimedJob } from "../src/Job.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { type Backend, ids, makeWorld, refusal, startWorker, stateOf } from "./Fixture.ts"

class Busy extends Data.TaggedError("Busy") {}
class Broken extends Data.TaggedError("Broken") {}

/** Delays a failed job in a unit of its own, and returns the jobs that got a slot. */
const retry = Effect.fnUntraced(function*(job: ClaimedJob, delay: Duration.Input) {
  const scheduler = yield* Scheduler
  const { atomically } = yield* UnitOfWork.UnitOfWork
  return yield* atomically(Effect.gen(function*() {
    const decided = Lanes.retry(yield* scheduler.load({ jobs: [job] }), { ...job, delay })
    if (Result.isFailure(decided)) return decided.failure
    return yield* scheduler.save(decided.success.state)
  }))
})

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Retries (${name})`, (it) => {
    it.effect("delays a failed job with its checkpoint, and frees its slot in the same unit", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const first = yield* scheduler.enqueue(world.job({ payload: { n: 7 }, attemptsMax: 5, timeLimit: "1 minute" }))
        const second = yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        yield* scheduler.checkpoint({ ...claimed!, checkpoint: { frames: 12 } })
        assert.deepStrictEqual(yield* retry(claimed!, "10 minutes"), { promoted: [second.job] })
        const [status] = yield* scheduler.find([first.job])
        assert.deepInclude(status, { state: "delayed", failures: 1, epoch: 1 })
        assert.strictEqual((yield* refusal(scheduler.cancel(first.job)))._tag, "AlreadyRunning")
        assert.deepStrictEqual(yield* scheduler.verify, [])

        yield* TestClock.adjust("10 minutes")
        yield* scheduler.cancel(second.job)
        yield* scheduler.enqueueDue(1_000)
        const [again] = yield* world.claim()
        assert.deepInclude(again, {
          job: first.job,
          payload: { n: 7 },
          checkpoint: Option.some({ frames: 12 }),
          attempt: 1,
          attemptsMax: 5,
          failures: 1,
          epoch: 2
        })
        assert.deepStrictEqual(again?.startedAt, again?.claimedAt)
        // The lease of the failed run stays lost.
        assert.strictEqual((yield* refusal(scheduler.settle(claimed!)))._tag, "LeaseLost")
        const late = scheduler.checkpoint({ ...claimed!, checkpoint: null })
        assert.strictEqual((yield* refusal(late))._tag, "LeaseLost")
        yield* scheduler.settle(again!)
        assert.deepStrictEqual(yield* scheduler.find([first.job]), [])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("ends a run once, whether it is retried or settled, and stays running if the unit fails", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        yield* Effect.flip(atomically(Effect.andThen(retry(claimed!, "1 second"), Effect.fail("no"))))
        assert.strictEqual(yield* stateOf(job), "running")
        const settle = Effect.map(Effect.result(scheduler.settle(claimed!)), Result.isSuccess)
        const again = Effect.map(retry(claimed!, "1 second"), (saved) => "promoted" in saved)
        const ended = yield* Effect.all([again, settle, again, settle], { concurrency: 4 })
        assert.strictEqual(ended.filter((isEnd) => isEnd).length, 1)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("places a failed job also while the queue is full, and counts it like one that has not started", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const failed = yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        yield* retry(claimed!, 0)
        const [ahead] = [yield* scheduler.enqueue(world.job())]
        yield* Effect.forEach(Array.from({ length: 20 }), () => scheduler.enqueue(world.job()))
        yield* scheduler.enqueueDue(1_000)
        assert.strictEqual(yield* stateOf(failed.job), "pending")
        yield* scheduler.setCap({ ...world, cap: 30 })
        // 21 jobs are ahead of it.
        const others = yield* world.claim({ limit: 21 })
        assert.notInclude(ids(others), failed.job)
        for (const job of others) yield* scheduler.settle(job)
        assert.include(ids(others), ahead.job)
        yield* scheduler.enqueue(world.job({ lane: `${world.lane}-other` }))
        // No job of its lane is ahead now, so it is served before the newer job of another lane.
        assert.deepStrictEqual(ids(yield* world.claim({ limit: 1 })), [failed.job])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("frees the slot also if the pause is longer than any delay", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const start = yield* DateTime.now
        const handler = JobHandler.make<{ readonly n: number }, void, Busy>({
          kind: world.kind,
          run: ({ payload: { n } }) => n === 0 ? Effect.fail(new Busy()) : Effect.void,
          retry: { attempts: 100, backoff: () => 2 ** 70 },
          failed: () => Effect.void
        })
        yield* startWorker({ name: "worker", handlers: [handler] })
        const { job } = yield* scheduler.enqueue(world.job({ payload: { n: 0 } }))
        const next = yield* scheduler.enqueue(world.job({ payload: { n: 1 } }))
        yield* Effect.repeat(Effect.andThen(TestClock.adjust(10), stateOf(next.job)), {
          until: (state) => state === undefined
        })
        const [status] = yield* scheduler.find([job])
        assert.deepInclude(status, { state: "delayed", failures: 1 })
        const days = DateTime.distance(start, Option.getOrThrow(status!.dueAt))
        assert.strictEqual(Math.floor(Duration.toDays(days)), 36_500)
        assert.deepStrictEqual(yield* scheduler.verify, [])
        yield* UnitOfWork.UnitOfWork.use(({ atomically }) =>
          atomically(Effect.gen(function*() {
            const aborted = Lanes.abort(yield* scheduler.load({ jobs: [status!] }), job)
            yield* scheduler.save(Result.getOrThrow(aborted).state)
          }))
        )
      }).pipe(Effect.scoped))

    it.effect("runs a job again after typed failures that are retried, and fails it with the last one", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const runs: Array<number> = []
        const outcomes: Array<string> = []
        const causes: ReadonlyArray<ReadonlyArray<Effect.Effect<void, Busy | Broken>>> = [
          [Effect.fail(new Busy()), Effect.fail(new Busy()), Effect.void],
          [Effect.fail(new Busy()), Effect.fail(new Busy()), Effect.fail(new Busy())],
          [Effect.fail(new Broken())],
          [Effect.die("a bug")]
        ]
        const handler = JobHandler.make<{ readonly n: number }, string, Busy | Broken>({
          kind: world.kind,
          run: ({ failures, payload: { n } }) =>
            Effect.sync(() => runs.push(n)).pipe(
              Effect.andThen(causes[n]![failures]!),
              Effect.as(`${n} done after ${failures}`)
            ),
          retry: {
            attempts: 3,
            backoff: (failures) => ({ minutes: failures }),
            while: (error) => error._tag === "Busy"
          },
          failed: ({ failures, payload }, cause) =>
            Effect.succeed(`${JSON.stringify(payload)} failed after ${failures}: ${cause.reasons[0]?._tag}`),
          settle: Effect.fnUntraced(function*(settlements) {
            let lanes = yield* scheduler.load({ jobs: settlements.map(({ job }) => job) })
            for (const { job, outcome } of settlements) {
              lanes = Result.getOrThrow(Lanes.settle(lanes, job)).state
              outcomes.push(outcome)
            }
            yield* scheduler.save(lanes)
          })
        })
        yield* startWorker({ name: "worker", handlers: [handler], pollInterval: "1 day", lease: "1 day" })
        const jobs = yield* Effect.forEach(
          [0, 1, 2, 3],
          (n) => scheduler.enqueue(world.job({ cap: 4, payload: { n } }))
        )
        const look = Effect.map(
          scheduler.find(ids(jobs)),
          (found) => found.map(({ failures, state }) => [state, failures])
        )
        const step = (step: Duration.Input, states: ReadonlyArray<ReadonlyArray<unknown>>) =>
          Effect.repeat(Effect.andThen(TestClock.adjust(step), look), {
            until: (found) => JSON.stringify(found) === JSON.stringify(states)
          })
        yield* step(0, [["delayed", 1], ["delayed", 1]])
        assert.strictEqual(runs.length, 4)
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual(runs.length, 4)
        yield* step(100, [["delayed", 2], ["delayed", 2]])
        assert.strictEqual(runs.length, 6)
        yield* TestClock.adjust("119 seconds")
        assert.strictEqual(runs.length, 6)
        yield* step(100, [])
        assert.strictEqual(runs.length, 8)
        assert.sameMembers(outcomes, [
          "0 done after 2",
          "{\"n\":1} failed after 2: Fail",
          "{\"n\":2} failed after 0: Fail",
          "{\"n\":3} failed after 0: Die"
        ])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }).pipe(Effect.scoped))
  })
