/** How often waiting calls read, and when they see a change whose notification was missed. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Changes from "../src/Changes.ts"
import type { Generation } from "../src/Generation.ts"
import * as Generations from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { layerMemory, openAccount, request } from "./Assembly.ts"

/**
 * Two processes over one memory: `here` with `changes`, which is not notified of `there`, and a generation. `reads` returns how often
 * `here` has read.
 */
const startBoth = Effect.fnUntraced(function*(changes: Layer.Layer<Changes.Changes>) {
  let reads = 0
  const store = yield* GenerationStore
  const counting = {
    ...store,
    find: (...args: Parameters<typeof store.find>) => Effect.andThen(Effect.sync(() => reads++), store.find(...args)),
    list: (...args: Parameters<typeof store.list>) => Effect.andThen(Effect.sync(() => reads++), store.list(...args))
  }
  const build = (changes: Layer.Layer<Changes.Changes>) =>
    Layer.build(Layer.fresh(Layer.provideMerge(Generations.layer, changes)))
  const here = yield* Effect.provideService(build(changes), GenerationStore, counting)
  const there = yield* build(Changes.layer)
  const account = yield* openAccount({ credits: 100 })
  const command = yield* request(account)
  const { generation } = yield* Effect.provideContext(
    Generations.Generations.use(({ create }) => create(command)),
    there
  )
  return {
    id: generation.id,
    account: account.id,
    reads: () => reads,
    here: Effect.provideContext(Effect.all([Generations.Generations, Changes.Changes]), here),
    cancel: Effect.provideContext(
      Generations.Generations.use(({ cancel }) => cancel(account.id, generation.id)),
      there
    )
  }
})

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** Runs fibers that are ready, without moving the clock. */
const settle = TestClock.adjust(0)

/** Returns the result of a fiber that has ended. */
const resultOf = <A, E>(fiber: Fiber.Fiber<A, E>) => {
  assert.isDefined(fiber.pollUnsafe())
  return Fiber.join(fiber)
}

const statusOf = (fiber: Fiber.Fiber<Generation, unknown>) => Effect.map(resultOf(fiber), ({ status }) => status)

for (
  const [name, changes, readsPerMinute] of [
    ["in a single process", Changes.layer, 6],
    ["while changes of other processes arrive", Changes.layerWith({ isConnected: true }), 6],
    ["while changes of other processes do not arrive", Changes.layerWith({}), 60]
  ] as const
) {
  it.effect(`a waiting call, and a stream of states, read ${readsPerMinute} times a minute ${name}`, () =>
    Effect.gen(function*() {
      const { account, here, id, reads } = yield* startBoth(changes)
      const [{ changes: stateChanges, wait }] = yield* here
      yield* fork(wait(account, id, "1 hour"))
      yield* settle
      let before = reads()
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(reads() - before, readsPerMinute)

      yield* fork(Stream.runDrain(stateChanges(account, id)))
      yield* settle
      before = reads()
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(reads() - before, 2 * readsPerMinute)
    }).pipe(Effect.scoped, Effect.provide(layerMemory)))
}

it.effect("a call that waits when the connection is lost sees a change within a second", () =>
  Effect.gen(function*() {
    const { account, cancel, here, id, reads } = yield* startBoth(Changes.layerWith({ isConnected: true }))
    const [{ changes, wait }, { setConnected }] = yield* here
    const waiting = yield* fork(wait(account, id, "1 hour"))
    const states = yield* fork(Stream.runCollect(changes(account, id)))
    yield* TestClock.adjust("3 seconds")
    const before = reads()
    yield* setConnected(false)
    yield* settle
    assert.strictEqual(reads(), before)
    yield* cancel
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* statusOf(waiting), "cancelled")
    assert.deepStrictEqual((yield* resultOf(states)).map(({ status }) => status), ["queued", "cancelled"])
  }).pipe(Effect.scoped, Effect.provide(layerMemory)))

it.effect("a waiting call sees a change that it missed as soon as changes arrive again, and reads rarely from then on", () =>
  Effect.gen(function*() {
    const { account, cancel, here, id, reads } = yield* startBoth(Changes.layerWith({}))
    const [{ accountChanges, wait }, { setConnected }] = yield* here
    const waiting = yield* fork(wait(account, id, "1 hour"))
    const seen: Array<string> = []
    yield* fork(Stream.runForEach(accountChanges(account), ({ status }) => Effect.sync(() => void seen.push(status))))
    yield* settle
    yield* setConnected(true)
    yield* settle
    const before = reads()
    yield* TestClock.adjust("9 seconds")
    // The call had begun to wait for its next read a second later.
    assert.isAtMost(reads() - before, 1)

    yield* setConnected(false)
    yield* cancel
    yield* setConnected(true)
    yield* settle
    assert.strictEqual(yield* statusOf(waiting), "cancelled")
    assert.deepStrictEqual(seen, ["cancelled"])
  }).pipe(Effect.scoped, Effect.provide(layerMemory)))

it.effect("a waiting call returns after its timeout, however rarely it reads", () =>
  Effect.gen(function*() {
    const { account, here, id } = yield* startBoth(Changes.layer)
    const [{ wait }] = yield* here
    const waiting = yield* fork(wait(account, id, "25 seconds"))
    yield* TestClock.adjust("24999 millis")
    assert.isUndefined(waiting.pollUnsafe())
    yield* TestClock.adjust("1 milli")
    assert.strictEqual(yield* statusOf(waiting), "queued")
  }).pipe(Effect.scoped, Effect.provide(layerMemory)))
