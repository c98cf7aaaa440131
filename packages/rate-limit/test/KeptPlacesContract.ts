import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import * as TestTime from "@kinora/testkit/TestTime"
import { Context, Effect, Exit, Layer, Random, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { layer as layerPlaces, Places } from "../src/Places.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"

/** The behaviour of places that a process keeps, on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>) =>
  layer(backend.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)))(`Kept places (${name})`, (it) => {
    it.effect("need no statement for requests that follow each other", () =>
      Effect.gen(function*() {
        const { acquire, calls, held } = yield* makeProcess
        for (let n = 0; n < 20; n++) {
          assert.isTrue(yield* Effect.scoped(acquire({ key: "following", max: 4, keepFor: "1 second" })))
        }
        assert.deepStrictEqual(calls, { acquire: 1, release: 0 })
        assert.strictEqual(yield* held("following"), 0)
      }))

    it.effect("are taken for other processes until their time is over", () =>
      Effect.gen(function*() {
        const { acquire } = yield* makeProcess
        const other = yield* makeProcess
        yield* Effect.scoped(acquire({ key: "taken", max: 2, keepFor: "1 second" }))
        assert.strictEqual(yield* other.held("taken"), 1)
        const scope = yield* Scope.make()
        const takeOther = Scope.provide(other.acquire({ key: "taken", max: 2 }), scope)
        assert.isTrue(yield* takeOther)
        assert.isFalse(yield* takeOther)
        yield* TestTime.pass("2 seconds", { step: "250 millis" })
        assert.isTrue(yield* takeOther)
        yield* Scope.close(scope, Exit.void)
      }))

    it.effect("are at most half of all, so the others are free for other processes at once", () =>
      Effect.gen(function*() {
        const { acquire } = yield* makeProcess
        const other = yield* makeProcess
        yield* Effect.scoped(Effect.forEach(
          Array.from({ length: 8 }),
          () => acquire({ key: "half", max: 8, keepFor: "1 second" })
        ))
        assert.strictEqual(yield* other.held("half"), 4)
        yield* Effect.scoped(acquire({ key: "only one", max: 1, keepFor: "1 second" }))
        assert.strictEqual(yield* other.held("only one"), 0)
      }))

    it.effect("are released when the process stops", () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { acquire } = yield* Scope.provide(makeProcess, scope)
        const other = yield* makeProcess
        yield* Effect.scoped(acquire({ key: "stopped", max: 2, keepFor: "1 minute" }))
        assert.strictEqual(yield* other.held("stopped"), 1)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* other.held("stopped"), 0)
      }))

    it.effect("are renewed while they are kept, and used again", () =>
      Effect.gen(function*() {
        const { acquire, calls, held } = yield* makeProcess
        const other = yield* makeProcess
        yield* Effect.scoped(acquire({ key: "renewed", max: 2, keepFor: "2 minutes" }))
        yield* TestTime.pass("1 minute")
        assert.strictEqual(yield* other.held("renewed"), 1)
        assert.isTrue(yield* acquire({ key: "renewed", max: 2 }))
        assert.strictEqual(calls.acquire, 1)
        assert.strictEqual(yield* held("renewed"), 1)
      }))

    it.effect("are neither used nor made in a transaction, which may roll back", () =>
      Effect.gen(function*() {
        const { acquire, calls } = yield* makeProcess
        const other = yield* makeProcess
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const request = { key: "transaction", max: 4, keepFor: "1 second" } as const
        yield* Effect.scoped(acquire(request))
        const scope = yield* Scope.make()
        yield* Scope.provide(acquire(request), scope).pipe(
          Effect.andThen(Effect.die("rolled back")),
          atomically,
          Effect.exit
        )
        assert.strictEqual(yield* other.held("transaction"), 1)
        yield* Scope.close(scope, Exit.void)
        yield* atomically(Effect.scoped(acquire(request)))
        assert.strictEqual(yield* other.held("transaction"), 1)
        // One place is kept. The place of the rolled back transaction does not exist.
        const before = calls.acquire
        yield* Effect.scoped(Effect.andThen(acquire(request), acquire(request)))
        assert.strictEqual(calls.acquire, before + 1)
      }))

    it.effect(
      "never exceed the maximum, and leave none taken, over several processes",
      () =>
        Effect.forEach(Array.from({ length: 12 }, (_, seed) => seed), (seed) =>
          Effect.gen(function*() {
            const processes = yield* Effect.forEach([1, 2, 3], () => makeProcess)
            const request = { key: `random ${seed}`, max: 6, keepFor: "1 second" } as const
            const used: Array<Scope.Closeable> = []
            for (let step = 0; step < 60; step++) {
              const process = processes[yield* Random.nextIntBetween(0, 2, { halfOpen: false })]!
              if (yield* Random.nextBoolean) {
                const scope = yield* Scope.make()
                if (yield* Scope.provide(process.acquire(request), scope)) used.push(scope)
                assert.isAtMost(used.length, request.max)
              } else if (used.length > 0) {
                const [scope] = used.splice(yield* Random.nextIntBetween(0, used.length - 1), 1)
                yield* Scope.close(scope!, Exit.void)
              }
              yield* TestTime.advance(`${yield* Random.nextIntBetween(0, 500)} millis`)
            }
            yield* Effect.forEach(used, (scope) => Scope.close(scope, Exit.void))
            yield* TestTime.pass("2 seconds", { step: "250 millis" })
            assert.strictEqual(yield* processes[0]!.held(request.key), 0)
          }).pipe(Effect.scoped, Random.withSeed(seed)), { discard: true }),
      30_000
    )
  })

/** Creates another process on the store. Counts its calls of the store. */
const makeProcess = Effect.gen(function*() {
  const store = yield* RateLimitStore
  const calls = { acquire: 0, release: 0 }
  const context = yield* Layer.build(Layer.fresh(layerPlaces)).pipe(Effect.provideService(RateLimitStore, {
    ...store,
    acquire: (requests) =>
      Effect.suspend(() => {
        calls.acquire++
        return store.acquire(requests)
      }),
    release: (ids) =>
      Effect.suspend(() => {
        calls.release++
        return store.release(ids)
      })
  }))
  return { ...Context.get(context, Places), calls }
})
