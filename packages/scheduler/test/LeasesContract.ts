/** The guarantees of leases on every backend. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { Scheduler } from "../src/Scheduler.ts"
import { type Backend, ids, makeWorld, refusal } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Leases (${name})`, (it) => {
    it.effect("settles a job once, and only under its epoch", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        const wrong = yield* refusal(scheduler.settle({ ...claimed!, epoch: 2 }))
        assert.strictEqual(wrong._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(claimed!)).state, "running")
        assert.strictEqual((yield* refusal(scheduler.settle(claimed!)))._tag, "LeaseLost")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("ignores the writes of a worker whose lease was rescued", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [lost] = yield* world.claim()
        yield* scheduler.checkpoint({ ...lost!, checkpoint: { step: 1 } })
        yield* TestClock.adjust("29 seconds")
        assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [lost!.job])

        const attempts = () =>
          Effect.all([
            Effect.map(refusal(scheduler.settle(lost!)), ({ _tag }) => _tag),
            Effect.map(refusal(scheduler.checkpoint({ ...lost!, checkpoint: "late" })), ({ _tag }) => _tag),
            Effect.map(scheduler.heartbeat([lost!], "30 seconds"), ids),
            scheduler.release([lost!])
          ])
        assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", [lost!.job], undefined])
        const [taker] = yield* world.claim()
        assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", [lost!.job], undefined])

        assert.deepStrictEqual(
          [taker!.epoch, taker!.attempt, taker!.checkpoint, taker!.startedAt],
          [2, 2, Option.some({ step: 1 }), lost!.startedAt]
        )
        assert.strictEqual((yield* scheduler.settle(taker!)).job, lost!.job)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("renews a lease with each heartbeat", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 2 })))
        const [kept, left] = yield* world.claim()
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(yield* scheduler.heartbeat([kept!], "30 seconds"), [])
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [left!.job])
        assert.deepStrictEqual(yield* scheduler.heartbeat([kept!, left!], "30 seconds"), [left!])
      }))

    it.effect("reports an old lease of a job as lost when the job's newer lease is renewed with it", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [old] = yield* world.claim()
        yield* scheduler.release([old!])
        const [newer] = yield* world.claim()
        const lost = yield* scheduler.heartbeat([old!, newer!], "30 seconds")
        assert.deepStrictEqual(lost.map(({ epoch }) => epoch), [old!.epoch])
      }))

    it.effect("expires the leases of first attempts only, when no worker is alive", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job({ cap: 2 }))
        yield* scheduler.enqueue(world.job({ cap: 2, attemptsMax: 1 }))
        const [lost, last] = yield* world.claim()
        yield* scheduler.checkpoint({ ...lost!, checkpoint: { step: 1 } })
        assert.isAtLeast(yield* scheduler.expireFirstLeases, 2)
        assert.strictEqual(yield* scheduler.expireFirstLeases, 0)

        const { exhausted, requeued } = yield* world.rescue()
        assert.deepStrictEqual(ids(requeued), [lost!.job])
        // The attempt was used up: a job that ends its process is not tried for ever.
        assert.deepStrictEqual(ids(exhausted), [last!.job])
        assert.strictEqual((yield* scheduler.settle(exhausted[0]!)).job, last!.job)
        const [taker] = yield* world.claim()
        assert.deepStrictEqual([taker!.epoch, taker!.attempt, taker!.checkpoint], [2, 2, Option.some({ step: 1 })])
        assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
        // A process that dies again at once waits for the second attempt's lease.
        yield* scheduler.expireFirstLeases
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [])
        assert.strictEqual((yield* scheduler.settle(taker!)).job, lost!.job)
      }))

    it.effect("leases a job without attempts left to its rescuer only", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job({ attemptsMax: 1 }))
        const [lost] = yield* world.claim()
        yield* TestClock.adjust("30 seconds")
        const [first] = (yield* world.rescue()).exhausted
        assert.deepStrictEqual([first!.job, first!.epoch, first!.attempt, first!.attemptsMax], [job, 2, 1, 1])
        // The rescuer is lost too.
        assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
        yield* TestClock.adjust("30 seconds")
        const [second] = (yield* world.rescue()).exhausted
        assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
        assert.strictEqual((yield* refusal(scheduler.settle(first!)))._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(second!)).job, job)
      }))

    it.effect("queues a released job before all others, without counting the attempt", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [a, b, c] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        const claimed = yield* world.claim({ limit: 2 })
        yield* scheduler.checkpoint({ ...claimed[0]!, checkpoint: "kept" })
        yield* scheduler.release([claimed[1]!, claimed[0]!])
        const again = yield* world.claim()
        assert.deepStrictEqual(ids(again), ids([a!, b!, c!]))
        assert.deepStrictEqual([again[0]!.epoch, again[0]!.attempt], [2, 1])
        assert.deepStrictEqual(again[0]!.checkpoint, Option.some("kept"))
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("stores the last of several checkpoints of the newest epoch", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [first] = yield* world.claim()
        yield* scheduler.release([first!])
        const [second] = yield* world.claim()
        const results = yield* Effect.forEach(
          [[second!, 1], [first!, 2], [second!, 3], [first!, 4]] as const,
          ([lease, checkpoint]) => Effect.result(scheduler.checkpoint({ ...lease, checkpoint })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(results.map(Result.isSuccess), [true, false, true, false])
        yield* scheduler.release([second!])
        assert.deepStrictEqual((yield* world.claim())[0]!.checkpoint, Option.some(3))
      }))
  })
