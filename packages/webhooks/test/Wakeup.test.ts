import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Queue, Stream } from "effect"
import * as Wakeup from "../src/Wakeup.ts"

const build = (options: Wakeup.WakeupOptions) =>
  Effect.map(Layer.build(Layer.fresh(Wakeup.layerWith(options))), (context) => Context.get(context, Wakeup.Wakeup))

it.effect("wakes every worker of the process, and tells other processes", () =>
  Effect.gen(function*() {
    let told = 0
    const { subscribe, wake } = yield* build({ publish: Effect.sync(() => void told++) })
    const workers = [yield* subscribe, yield* subscribe]
    assert.isTrue(workers.every((worker) => !worker.isOpen()))
    yield* wake
    assert.isTrue(workers.every((worker) => worker.isOpen()))
    assert.strictEqual(told, 1)
  }))

it.effect("wakes the workers here when another process tells, without telling it on", () =>
  Effect.gen(function*() {
    let told = 0
    const others = yield* Queue.unbounded<string>()
    const { subscribe } = yield* build({
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

it.effect("forgets a worker whose scope has closed", () =>
  Effect.gen(function*() {
    const { subscribe, wake } = yield* build({})
    const worker = yield* Effect.scoped(subscribe)
    yield* wake
    assert.isFalse(worker.isOpen())
  }))
