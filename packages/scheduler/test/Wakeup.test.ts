import { assert, it } from "@effect/vitest"
import { Effect, Queue, Stream } from "effect"
import * as Wakeup from "../src/Wakeup.ts"

it.effect("opens every latch when this process wakes, and tells the others", () =>
  Effect.gen(function*() {
    let published = 0
    const hooks = Wakeup.layerWith({ publish: Effect.sync(() => void published++) })
    yield* Effect.gen(function*() {
      const { subscribe, wake } = yield* Wakeup.Wakeup
      const latches = [yield* subscribe, yield* subscribe]
      yield* wake
      yield* Effect.forEach(latches, (latch) => latch.await)
      assert.strictEqual(published, 1)
    }).pipe(Effect.provide(hooks))
  }))

it.effect("opens its latches when another process tells it to, and tells nobody", () =>
  Effect.gen(function*() {
    let published = 0
    const told = yield* Queue.unbounded<string>()
    const hooks = Wakeup.layerWith({
      publish: Effect.sync(() => void published++),
      subscribe: Stream.fromQueue(told)
    })
    yield* Effect.gen(function*() {
      const { subscribe } = yield* Wakeup.Wakeup
      const latch = yield* subscribe
      for (const message of ["first", "second"]) {
        yield* latch.close
        yield* Queue.offer(told, message)
        yield* latch.await
      }
      assert.strictEqual(published, 0)
    }).pipe(Effect.provide(hooks))
  }))
