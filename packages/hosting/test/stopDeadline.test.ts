import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { EventEmitter } from "node:events"
import * as StopDeadline from "../src/internal/stopDeadline.ts"

/** A process that records its exit codes. */
const makeProcess = () => {
  const exits: Array<number> = []
  return { exits, process: Object.assign(new EventEmitter(), { exit: (code: number) => void exits.push(code) }) }
}

it("is 5 seconds after the drain and the longest grace, or after the sends of webhooks", () => {
  const limitOf = (drain: number, jobGrace: number, requestGrace: number, servesClients = true) => {
    const settings = {
      drain: Duration.seconds(drain),
      jobGrace: Duration.seconds(jobGrace),
      requestGrace: Duration.seconds(requestGrace)
    }
    return Duration.toSeconds(StopDeadline.limitOf(settings, servesClients))
  }
  assert.strictEqual(limitOf(0, 30, 25), 35)
  assert.strictEqual(limitOf(20, 30, 60), 85)
  assert.strictEqual(limitOf(0, 0, 12), 17)
  assert.strictEqual(limitOf(0, 0, 0), 15)
  assert.strictEqual(limitOf(20, 30, 60, false), 35)
})

it.effect("ends a process that hangs while it stops, and logs the part that hangs", () => {
  const lines: Array<unknown> = []
  const logger = Logger.make(({ message }) => void lines.push(message))
  return Effect.gen(function*() {
    const { exits, process } = makeProcess()
    yield* StopDeadline.watch(Duration.seconds(35), process)
    const gate = yield* Deferred.make<void>()
    const stopped = Layer.effectDiscard(Effect.addFinalizer(() => Effect.void)).pipe(StopDeadline.part("requests"))
    const hanging = Layer.effectDiscard(Effect.addFinalizer(() => Deferred.await(gate))).pipe(StopDeadline.part("jobs"))
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(stopped.pipe(Layer.provideMerge(hanging)), scope)
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(exits, [])

    process.emit("SIGTERM")
    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* TestClock.adjust("34 seconds")
    assert.deepStrictEqual(exits, [])
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(exits, [1])
    assert.deepStrictEqual(lines, [["The process did not stop in time and was ended", { hung: ["jobs"] }]])
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(stopping)
  }).pipe(Effect.scoped, Effect.provide(Logger.layer([logger])))
})

it.effect("leaves a process alone that stops in time", () =>
  Effect.gen(function*() {
    const { exits, process } = makeProcess()
    yield* Effect.scoped(Effect.andThen(
      StopDeadline.watch(Duration.seconds(35), process),
      Effect.sync(() => process.emit("SIGINT"))
    ))
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(exits, [])
    assert.deepStrictEqual([process.listenerCount("SIGTERM"), process.listenerCount("SIGINT")], [0, 0])
  }))
