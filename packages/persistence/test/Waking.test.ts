import { assert, it } from "@effect/vitest"
import { Effect, Queue, Stream } from "effect"
import * as Waking from "../src/Waking.ts"

it.effect("wakes every worker of the process, and notifies other processes", () =>
  Effect.gen(function*() {
    let told = 0
    const { subscribe, wake } = yield* Waking.make({ publish: Effect.sync(() => void told++) })
    const workers = [yield* subscribe, yield* subscribe]
    assert.isTrue(workers.every((worker) => !worker.isOpen()))
    yield* wake
    assert.isTrue(workers.every((worker) => worker.isOpen()))
    assert.strictEqual(told, 1)
  }))

it.effect("wakes the workers when another process notifies, without notifying others", () =>
  Effect.gen(function*() {
    let told = 0
    const others = yield* Queue.unbounded<string>()
    const { subscribe } = yield* Waking.make({
      publish: Effect.sync(() => void told++),
      subscribe: Stream.fromQueue(others)
    })
    const worker = yield* subscribe
    for (const _ of [1, 2]) {
      yield* worker.close
      yield* Queue.offer(others, "published")
      yield* worker.await
    }
    assert.strictEqual(told, 0)
  }))

it.effect("wakes the workers that take one of the kinds, or all kinds", () =>
  Effect.gen(function*() {
    const named: Array<Waking.Kinds> = []
    const { subscribe, subscribeTo, wake, wakeFor } = yield* Waking.make({
      publish: (kinds) => Effect.sync(() => void named.push(kinds))
    })
    const workers = [yield* subscribeTo(["image", "video"]), yield* subscribeTo(["audio"]), yield* subscribe]
    const wakes = Effect.fnUntraced(function*(wakeUp: Effect.Effect<void>) {
      yield* wakeUp
      const woken = workers.map((worker) => worker.isOpen())
      yield* Effect.forEach(workers, ({ close }) => close)
      return woken
    })
    assert.deepStrictEqual(yield* wakes(wakeFor(["video", "text"])), [true, false, true])
    assert.deepStrictEqual(yield* wakes(wakeFor(["text"])), [false, false, true])
    assert.deepStrictEqual(yield* wakes(wakeFor(undefined)), [true, true, true])
    assert.deepStrictEqual(yield* wakes(wake), [true, true, true])
    assert.deepStrictEqual(named, [["video", "text"], ["text"], undefined, undefined])
  }))

it.effect("wakes the workers of the kinds that another process names, and all workers if it names none", () =>
  Effect.gen(function*() {
    const others = yield* Queue.unbounded<unknown>()
    const { subscribe, subscribeTo } = yield* Waking.make({ subscribe: Stream.fromQueue(others) })
    const [image, audio, any] = [yield* subscribeTo(["image"]), yield* subscribeTo(["audio"]), yield* subscribe]
    yield* Queue.offer(others, ["audio"])
    yield* audio.await
    yield* any.await
    assert.isFalse(image.isOpen())
    yield* Queue.offer(others, "published")
    yield* image.await
  }))

it.effect("does not wake a worker whose scope has closed", () =>
  Effect.gen(function*() {
    const { subscribe, wake } = yield* Waking.make({})
    const worker = yield* Effect.scoped(subscribe)
    yield* wake
    assert.isFalse(worker.isOpen())
  }))

it.effect("listens to other processes while there are workers", () =>
  Effect.gen(function*() {
    const listeners: Array<string> = []
    const { subscribe } = yield* Waking.make({
      subscribe: Stream.unwrap(Effect.acquireRelease(
        Effect.as(Effect.sync(() => listeners.push("started")), Stream.never),
        () => Effect.sync(() => listeners.push("ended"))
      ))
    })
    assert.deepStrictEqual(listeners, [])
    yield* Effect.scoped(Effect.andThen(subscribe, Effect.scoped(subscribe)))
    assert.deepStrictEqual(listeners, ["started", "ended"])
    yield* subscribe
    assert.deepStrictEqual(listeners, ["started", "ended", "started"])
  }))
