import { assert, layer } from "@effect/vitest"
import { ScriptedGenerator } from "@kinora/generator"
import type { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Fiber, Latch, type Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Changes } from "../src/Changes.ts"
import type { Generation } from "../src/Generation.ts"
import * as Generations from "../src/Generations.ts"
import { GenerationStore } from "../src/GenerationStore.ts"
import { type layerMemory, openAccount, request, startWorker } from "./Assembly.ts"

type Services = Exclude<Layer.Success<typeof layerMemory>, MemoryBackend>
type Owner = Parameters<typeof request>[0]

const createNew = Effect.fnUntraced(function*(account: Owner, key: string, options = {}) {
  const { create } = yield* Generations.Generations
  return (yield* create(yield* request(account, { key, ...options }))).generation
})

type Seen = readonly [id: string, status: string]

/** Follows an account. `until` waits until what was emitted satisfies a condition. */
const follow = Effect.fnUntraced(function*(changes: Stream.Stream<Generation, unknown>) {
  const seen: Array<Seen> = []
  const emitted = yield* Latch.make()
  const fiber = yield* Effect.forkChild(
    Stream.runForEach(changes, ({ id, status }) =>
      Effect.suspend(() => {
        seen.push([id, status])
        return emitted.open
      })),
    { startImmediately: true }
  )
  const until = (isSatisfied: (seen: ReadonlyArray<Seen>) => boolean): Effect.Effect<void> =>
    // Closed before the check, so that what is emitted in between opens it again.
    Effect.andThen(
      emitted.close,
      Effect.suspend(() => isSatisfied(seen) ? Effect.void : Effect.andThen(emitted.await, until(isSatisfied)))
    )
  return { seen, fiber, until }
})

/** Creates and cancels generations until the stream, which watches the account then, has emitted all of them. */
const sync = Effect.fnUntraced(function*(account: Owner, { seen, until }: Effect.Success<ReturnType<typeof follow>>) {
  const { cancel } = yield* Generations.Generations
  const before = seen.length
  let last = ""
  for (let n = 0; seen.length === before; n++) {
    last = (yield* createNew(account, `sync ${n} ${before}`)).id
    yield* cancel(account.id, last)
    yield* Effect.yieldNow
  }
  yield* until((seen) => seen.some(([id, status]) => id === last && status === "cancelled"))
})

/** Streams of the changes of an account on every backend. */
export const suite = <E>(name: string, services: Layer.Layer<Services, E>) => {
  layer(services)(`Changes of an account (${name})`, (it) => {
    it.effect("are those of all its generations, from their creation to their end, and of no other account", () =>
      Effect.gen(function*() {
        const { accountChanges, cancel } = yield* Generations.Generations
        const control = yield* ScriptedGenerator.Control
        const account = yield* openAccount({ credits: 1_000 })
        const other = yield* openAccount({ credits: 1_000 })
        const stream = yield* follow(accountChanges(account.id))
        const others = yield* follow(accountChanges(other.id))
        yield* sync(account, stream)
        yield* sync(other, others)
        stream.seen.splice(0)
        const first = yield* createNew(account, "first")
        const cancelled = yield* createNew(account, "second")
        yield* cancel(account.id, cancelled.id)
        const { id: unrelated } = yield* createNew(other, "of another account")
        yield* cancel(other.id, unrelated)
        yield* startWorker()
        yield* control.called("submit", first.id)
        yield* control.succeed(first.id)
        yield* stream.until((seen) => seen.some(([id, status]) => id === first.id && status === "completed"))
        const of = (id: string) => stream.seen.filter(([seen]) => seen === id).map(([, status]) => status)
        // The first of two changes in quick succession can be skipped.
        assert.strictEqual(of(first.id).at(-1), "completed")
        assert.strictEqual(of(cancelled.id).at(-1), "cancelled")
        assert.deepStrictEqual(new Set(stream.seen.map(([id]) => id)), new Set([first.id, cancelled.id]))
        assert.isFalse(others.seen.some(([id]) => id === first.id || id === cancelled.id))
        yield* Fiber.interrupt(stream.fiber)
      }).pipe(Effect.scoped, TestClock.withLive))

    it.effect("begin with what a reader missed who was disconnected", () =>
      Effect.gen(function*() {
        const { accountChanges, cancel } = yield* Generations.Generations
        const account = yield* openAccount({ credits: 1_000 })
        const old = yield* createNew(account, "old")
        yield* cancel(account.id, old.id)
        yield* TestClock.adjust("1 minute")
        const since = yield* DateTime.now
        const waiting = yield* createNew(account, "waiting")
        const cancelled = yield* createNew(account, "cancelled")
        yield* cancel(account.id, cancelled.id)
        const missed = yield* Stream.runCollect(Stream.take(accountChanges(account.id, since), 2))
        assert.deepStrictEqual(missed.map(({ id, status }) => [id, status]), [
          [waiting.id, "queued"],
          [cancelled.id, "cancelled"]
        ])
      }))

    it.effect("include a change without a notification once the newest generations are read again", () =>
      Effect.gen(function*() {
        const { accountChanges } = yield* Generations.Generations
        const store = yield* GenerationStore
        const account = yield* openAccount({ credits: 1_000 })
        const { id } = yield* createNew(account, "silent")
        const stream = yield* follow(accountChanges(account.id))
        yield* sync(account, stream)
        const at = yield* DateTime.now
        yield* store.start([{ id, at, attempt: 1, epoch: 1, worker: "test" }])
        const isSeen = () => stream.seen.some(([seen, status]) => seen === id && status === "processing")
        assert.isFalse(isSeen())
        // The stream may begin to wait after the clock has moved.
        while (!isSeen()) {
          yield* TestClock.adjust("10 seconds")
          yield* store.find([id])
        }
      }))

    it.effect("reach a slow reader, who skips states but not the last one", () =>
      Effect.gen(function*() {
        const { cancel } = yield* Generations.Generations
        const { accountChanges } = yield* Generations.make({ accountHeldMax: 1 })
        const account = yield* openAccount({ credits: 1_000 })
        const gate = yield* Latch.make(true)
        const stream = yield* follow(Stream.tap(accountChanges(account.id), () => gate.await))
        yield* sync(account, stream)
        yield* gate.close
        const ids: Array<string> = []
        for (const key of ["a", "b", "c", "d", "e"]) ids.push((yield* createNew(account, key)).id)
        for (const id of ids) yield* cancel(account.id, id)
        yield* gate.open
        yield* stream.until((seen) => ids.every((id) => seen.findLast(([other]) => other === id)?.[1] === "cancelled"))
      }))

    it.effect("end when the process stops", () =>
      Effect.gen(function*() {
        const { accountChanges } = yield* Generations.Generations
        const account = yield* openAccount({ credits: 100 })
        const stream = yield* follow(accountChanges(account.id))
        yield* sync(account, stream)
        yield* Changes.use(({ end }) => end)
        yield* Fiber.join(stream.fiber)
        assert.deepStrictEqual(yield* Stream.runCollect(accountChanges(account.id)), [])
      }))
  })
}
