/** Jobs that run again after a failure. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Data, DateTime, Duration, Effect, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { ids, makeWorld, stateOf } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { type Backend, startWorker } from "./Fixture.ts"

class Busy extends Data.TaggedError("Busy") {}
class Broken extends Data.TaggedError("Broken") {}

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Retries (${name})`, (it) => {
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
