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
