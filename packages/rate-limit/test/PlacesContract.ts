import { assert, layer } from "@effect/vitest"
import { DatabaseTime, UnitOfWork } from "@kinora/persistence"
import { SkewedClock, TestTime } from "@kinora/testkit"
import { Clock, Context, Deferred, Effect, Exit, Fiber, Layer, Option, Queue, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { layer as layerPlaces, Places } from "../src/Places.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import { ofDatabases, type Traits } from "./Traits.ts"

/** The behaviour of `Places` on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>,
  { sweeps, transactions }: Traits = ofDatabases
) =>
  layer(
    layerPlaces.pipe(Layer.provideMerge(backend), Layer.provideMerge(SecureRandom.layerWebCrypto))
  )(`Places (${name})`, (it) => {
    it.effect("rejects without a statement while its own places are the maximum", () =>
      Effect.gen(function*() {
        const { calls, store } = yield* countedStore
        const { acquire } = yield* Effect.provideService(instance(), RateLimitStore, store)
        const request = { key: "own", max: 1 }
        const scope = yield* Scope.make()
        assert.isTrue(yield* Scope.provide(acquire(request), scope))
        for (let n = 0; n < 3; n++) assert.isFalse(yield* Effect.scoped(acquire(request)))
        assert.strictEqual(calls(), 1)
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(yield* Effect.scoped(acquire(request)))
        assert.strictEqual(calls(), 2)
      }))

    it.effect("uses a place again that it keeps, without a statement, and frees it soon after", () =>
      Effect.gen(function*() {
        const { calls, store } = yield* countedStore
        const { acquire } = yield* Effect.provideService(instance(), RateLimitStore, store)
        const request = { key: "kept", max: 1, mayBeKept: true }
        for (let n = 0; n < 3; n++) assert.isTrue(yield* Effect.scoped(acquire(request)))
        assert.strictEqual(calls(), 1)
        assert.strictEqual(yield* store.held("kept"), 1)
        yield* TestTime.advance("100 millis")
        assert.strictEqual(yield* store.held("kept"), 0)
      }))

    it.effect("grants a place that another process keeps, after that process has released it", () =>
      Effect.gen(function*() {
        const { acquire } = yield* Places
        const other = yield* instance()
        const request = { key: "kept by another", max: 1, mayBeKept: true }
        yield* Effect.scoped(other.acquire(request))
        const waiting = yield* Effect.forkChild(acquire(request), { startImmediately: true })
        yield* TestTime.pass("150 millis", { step: "50 millis" })
        assert.isTrue(yield* Fiber.join(waiting))
        const refused = yield* Effect.forkChild(Effect.scoped(other.acquire(request)), { startImmediately: true })
        yield* TestTime.pass("150 millis", { step: "50 millis" })
        assert.isFalse(yield* Fiber.join(refused))
      }))

    if (transactions) {
      it.effect("uses no kept place in a transaction, which may roll back", () =>
        Effect.gen(function*() {
          const { acquire } = yield* instance()
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const { held } = yield* RateLimitStore
          const request = { key: "kept outside", max: 2, mayBeKept: true }
          yield* Effect.scoped(acquire(request))
          const scope = yield* Scope.make()
          yield* Effect.flip(atomically(Effect.andThen(Scope.provide(acquire(request), scope), Effect.fail("undone"))))
          yield* TestTime.advance("100 millis")
          assert.strictEqual(yield* held("kept outside"), 0)
          yield* Scope.close(scope, Exit.void)
        }))
    }

    it.effect("uses a place that it keeps by the time it tries again", () =>
      Effect.gen(function*() {
        const { acquire } = yield* instance()
        const other = yield* instance()
        const request = { key: "tried again", max: 2, mayBeKept: true }
        yield* other.acquire(request)
        const scope = yield* Scope.make()
        yield* Scope.provide(acquire(request), scope)
        const waiting = yield* Effect.forkChild(acquire(request), { startImmediately: true })
        yield* TestTime.advance("130 millis")
        yield* Scope.close(scope, Exit.void)
        yield* TestTime.advance("20 millis")
        assert.isTrue(yield* Fiber.join(waiting))
      }))

    it.effect("ends the wait for a kept place when it is interrupted", () =>
      Effect.gen(function*() {
        const { acquire } = yield* instance()
        const request = { key: "interrupted", max: 1, mayBeKept: true }
        yield* Effect.flatMap(Places, (other) => other.acquire(request))
        const waiting = yield* Effect.forkChild(acquire(request), { startImmediately: true })
        yield* TestTime.advance("1 millis")
        yield* Fiber.interrupt(waiting)
      }))

    it.effect("does not use a kept place whose lease may have ended, because its release takes long", () =>
      Effect.gen(function*() {
        const store = yield* RateLimitStore
        const gate = yield* Deferred.make<void>()
        const slow = RateLimitStore.of({
          ...store,
          release: (ids) => Effect.andThen(Deferred.await(gate), store.release(ids))
        })
        const { acquire } = yield* Effect.provideService(instance(), RateLimitStore, slow)
        const request = { key: "released slowly", max: 1, mayBeKept: true }
        yield* Effect.scoped(acquire({ ...request, key: "released before" }))
        yield* TestTime.advance("100 millis")
        yield* Effect.scoped(acquire(request))
        yield* TestTime.advance("31 seconds")
        assert.isTrue(
          yield* Effect.flatMap(Places, (other) => other.acquire(request))
        )
        const refused = yield* Effect.forkChild(acquire(request), { startImmediately: true })
        yield* TestTime.advance("150 millis")
        assert.isFalse(yield* Fiber.join(refused))
        yield* Deferred.succeed(gate, undefined)
      }))

    it.effect("releases a place whose scope closes after it has stopped", () =>
      Effect.gen(function*() {
        const { held } = yield* RateLimitStore
        const scope = yield* Scope.make()
        yield* Effect.scoped(Effect.flatMap(
          instance(),
          ({ acquire }) => Scope.provide(acquire({ key: "closed late", max: 1, mayBeKept: true }), scope)
        ))
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* held("closed late"), 0)
      }))

    it.effect("releases the places that it keeps when it stops", () =>
      Effect.gen(function*() {
        const { held } = yield* RateLimitStore
        yield* Effect.scoped(
          Effect.flatMap(
            instance(),
            ({ acquire }) => Effect.scoped(acquire({ key: "kept until the end", max: 1, mayBeKept: true }))
          )
        )
        assert.strictEqual(yield* held("kept until the end"), 0)
      }))

    it.effect("keeps a place until its lease ends if its holder is interrupted and asked for that", () =>
      Effect.gen(function*() {
        const { acquire, held } = yield* Places
        const scope = yield* Scope.make()
        const request = { key: "handed over", max: 1, onInterrupt: "expire" } as const
        assert.isTrue(yield* Scope.provide(acquire(request), scope))
        yield* Scope.close(scope, Exit.interrupt())
        assert.strictEqual(yield* held("handed over"), 1)
        yield* TestTime.advance("29 seconds")
        assert.isFalse(yield* Effect.scoped(acquire(request)))
        yield* TestTime.advance("1 second")
        assert.isTrue(yield* Effect.scoped(acquire(request)))
        assert.strictEqual(yield* held("handed over"), 0)
      }))

    it.effect("grants at most the maximum within any time of places with a fixed time", () =>
      Effect.gen(function*() {
        const [first, second] = [yield* instance(), yield* instance()]
        const request = { key: "timed", max: 2, lasts: "1 minute" } as const
        assert.isTrue(yield* first.acquireFor(request))
        yield* TestTime.advance("40 seconds")
        assert.isTrue(yield* second.acquireFor(request))
        assert.isFalse(yield* first.acquireFor(request))
        yield* TestTime.advance("20 seconds")
        assert.isTrue(yield* first.acquireFor(request))
        assert.isFalse(yield* second.acquireFor(request))
        assert.strictEqual(yield* first.held("timed"), 2)
        yield* TestTime.advance("1 minute")
        assert.strictEqual(yield* first.held("timed"), 0)
        assert.isAtLeast(yield* first.sweep(10), sweeps ? 2 : 0)
      }))

    for (const millis of [-120_000, 120_000]) {
      it.effect(`keeps and frees places in time when the clock of a host is off by ${millis} ms`, () =>
        Effect.gen(function*() {
          const onHost = SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)
          const right = yield* instance()
          const skewed = yield* onHost(instance())
          const held = { key: `held by ${millis}`, max: 1 }
          const scope = yield* Scope.make()
          assert.isTrue(yield* onHost(Scope.provide(skewed.acquire(held), scope)))
          const timed = { key: `timed by ${millis}`, max: 1, lasts: "1 minute" } as const
          assert.isTrue(yield* onHost(skewed.acquireFor(timed)))
          for (let second = 0; second < 60; second += 10) {
            assert.deepStrictEqual(
              [yield* Effect.scoped(right.acquire(held)), yield* right.acquireFor(timed)],
              [false, false]
            )
            yield* onHost(skewed.sweep(100))
            yield* TestTime.advance("10 seconds")
          }
          assert.isTrue(yield* right.acquireFor(timed))
          assert.isFalse(yield* onHost(skewed.acquireFor(timed)))
          yield* onHost(Scope.close(scope, Exit.void))
          assert.isTrue(yield* Effect.scoped(right.acquire(held)))
          yield* TestTime.advance("1 minute")
          assert.isAtLeast(yield* onHost(skewed.sweep(100)), sweeps ? 1 : 0)
        }))
    }

    it.effect("renews all held places in one statement while they are held", () =>
      Effect.gen(function*() {
        const { renewed, service } = yield* watchedInstance
        const { acquire } = yield* Places
        for (const key of ["long a", "long b", "long c"]) yield* service.acquire({ key, max: 1 })
        for (let tick = 0; tick < 12; tick++) {
          yield* TestTime.advance("10 seconds")
          assert.strictEqual(yield* Queue.take(renewed), 3)
        }
        assert.isFalse(yield* acquire({ key: "long a", max: 1 }))
      }))

    it.effect("renews only while places are held", () =>
      Effect.gen(function*() {
        const { renewed, service } = yield* watchedInstance
        yield* Effect.scoped(service.acquire({ key: "shortly", max: 1 }))
        yield* TestTime.advance("10 minutes")
        assert.strictEqual(yield* Queue.size(renewed), 0)
        yield* service.acquire({ key: "shortly", max: 1 })
        yield* TestTime.advance("10 seconds")
        assert.strictEqual(yield* Queue.take(renewed), 1)
      }))

    it.effect("does not store a lease again that is released during a renewal", () =>
      Effect.gen(function*() {
        const store = yield* RateLimitStore
        const { gate, renew, started } = yield* makeGatedRenewal
        const service = yield* instance().pipe(
          Effect.provideService(RateLimitStore, {
            ...store,
            renew
          })
        )
        const scope = yield* Scope.make()
        yield* Scope.provide(service.acquire({ key: "overtaken", max: 1 }), scope)
        yield* TestTime.advance("10 seconds")
        yield* Deferred.await(started)
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(closing)
        assert.strictEqual(yield* service.held("overtaken"), 0)
      }))

    if (transactions) {
      it.effect("deletes a lease that was released in a transaction during its renewal", () =>
        Effect.gen(function*() {
          const store = yield* RateLimitStore
          const { atomically } = yield* UnitOfWork.UnitOfWork
          const { gate, renew, started } = yield* makeGatedRenewal
          const released = yield* Queue.unbounded<number>()
          const service = yield* instance().pipe(
            Effect.provideService(RateLimitStore, {
              ...store,
              renew,
              release: (ids) => Effect.tap(store.release(ids), () => Queue.offer(released, ids.length))
            })
          )
          const scope = yield* Scope.make()
          yield* Scope.provide(service.acquire({ key: "late", max: 1 }), scope)
          yield* TestTime.advance("10 seconds")
          yield* Deferred.await(started)
          yield* atomically(Scope.close(scope, Exit.void))
          assert.strictEqual(yield* Queue.take(released), 1)
          yield* Deferred.succeed(gate, undefined)
          const again = yield* TestClock.withLive(Effect.timeoutOption(Queue.take(released), "10 seconds"))
          assert.deepStrictEqual(again, Option.some(1))
          assert.strictEqual(yield* service.held("late"), 0)
        }))
    }

    if (sweeps) {
      it.effect("stores leases again that the database has lost", () =>
        Effect.gen(function*() {
          const { renewed, service } = yield* watchedInstance
          const store = yield* RateLimitStore
          yield* service.acquire({ key: "lost", max: 1 })
          yield* TestTime.advance("10 seconds")
          yield* Queue.take(renewed)
          const tomorrow = SkewedClock.aheadOf(yield* Clock.Clock, 86_400_000)
          const sweep = Effect.provideService(store.sweepLeases(1000), DatabaseTime.DatabaseClock, tomorrow)
          while ((yield* sweep) > 0);
          assert.strictEqual(yield* service.held("lost"), 0)
          yield* TestTime.advance("10 seconds")
          yield* Queue.take(renewed)
          assert.strictEqual(yield* service.held("lost"), 1)
        }))
    }
  })

/** Creates another process on the same store. */
const instance = () => Effect.map(Layer.build(Layer.fresh(layerPlaces)), (context) => Context.get(context, Places))

/** The store, with the number of its calls that took places. */
const countedStore = Effect.map(RateLimitStore, (store) => {
  let calls = 0
  const counted = RateLimitStore.of({
    ...store,
    acquire: (leases) => Effect.suspend(() => (calls++, store.acquire(leases)))
  })
  return { store: counted, calls: () => calls }
})

/** Creates a process with a queue of the number of places that each renewal renewed. */
const watchedInstance = Effect.gen(function*() {
  const store = yield* RateLimitStore
  const renewed = yield* Queue.unbounded<number>()
  const service = yield* instance().pipe(
    Effect.provideService(RateLimitStore, {
      ...store,
      renew: (places, lasts) => Effect.tap(store.renew(places, lasts), () => Queue.offer(renewed, places.length))
    })
  )
  return { service, renewed }
})

/** Renewals that complete `started`, and continue after `gate`. */
const makeGatedRenewal = Effect.gen(function*() {
  const store = yield* RateLimitStore
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const renew: typeof store.renew = (places, lasts) =>
    Deferred.succeed(started, undefined).pipe(
      Effect.andThen(Deferred.await(gate)),
      Effect.andThen(store.renew(places, lasts))
    )
  return { gate, renew, started }
})
