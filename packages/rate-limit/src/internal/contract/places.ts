/** Tests of places. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Deferred, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { layer as layerPlaces, Places } from "../../Places.ts"
import { RateLimitStore } from "../../RateLimitStore.ts"
import { processOf } from "./processes.ts"
import type { Register, Traits } from "./tests.ts"

/** Registers tests of the maximum. */
export const placeTests = (test: Register, { transactions }: Traits): void => {
  test("grants exactly the maximum to many concurrent requests of several processes", () =>
    Effect.gen(function*() {
      const processes = yield* Effect.forEach(Array.from({ length: 4 }), () => instance())
      const acquired = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => processes[index % 4]!),
        ({ acquire }) => acquire({ key: "exact", max: 20 }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(acquired.filter(Boolean).length, 20)
      assert.strictEqual(yield* processes[0]!.held("exact"), 20)
    }))

  test("frees a place when its scope closes", () =>
    Effect.gen(function*() {
      const { acquire, held } = yield* Places
      const request = { key: "closed", max: 1 }
      const scope = yield* Scope.make()
      assert.isTrue(yield* Scope.provide(acquire(request), scope))
      assert.isFalse(yield* Effect.scoped(acquire(request)))
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* held("closed"), 0)
      assert.isTrue(yield* Effect.scoped(acquire(request)))
    }))

  test("rejects more requests than the maximum while places are used again", () =>
    Effect.gen(function*() {
      const { acquire } = yield* instance()
      const request = { key: "used again", max: 2, mayBeKept: true }
      yield* Effect.scoped(Effect.andThen(acquire(request), acquire(request)))
      const granted = yield* Effect.all(Array.from({ length: 5 }, () => acquire(request)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(granted, [true, true, false, false, false])
    }))

  if (transactions) {
    test("does not keep a place whose transaction has rolled back", () =>
      Effect.gen(function*() {
        const { acquire } = yield* instance()
        const { atomically } = yield* UnitOfWork
        const request = { key: "never taken", max: 1, mayBeKept: true }
        const scope = yield* Scope.make()
        yield* Effect.flip(atomically(Effect.andThen(Scope.provide(acquire(request), scope), Effect.fail("undone"))))
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(yield* acquire(request))
        assert.isFalse(yield* acquire(request))
      }))
  }
}

/** Registers tests of places that become free. */
export const freedPlaceTests = (test: Register): void => {
  test("frees a place when its holder is interrupted", () =>
    Effect.gen(function*() {
      const { acquire, held } = yield* Places
      const acquired = yield* Deferred.make<void>()
      const holder = yield* acquire({ key: "interrupted", max: 1 }).pipe(
        Effect.andThen(Deferred.succeed(acquired, undefined)),
        Effect.andThen(Effect.never),
        Effect.scoped,
        Effect.forkChild
      )
      yield* Deferred.await(acquired)
      assert.strictEqual(yield* held("interrupted"), 1)
      yield* Fiber.interrupt(holder)
      assert.strictEqual(yield* held("interrupted"), 0)
    }))

  test("frees the places of fibers that are interrupted while they acquire", () =>
    Effect.gen(function*() {
      const { acquire, held } = yield* Places
      const asking = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () =>
          Effect.forkChild(Effect.scoped(Effect.andThen(acquire({ key: "asking", max: 20 }), Effect.never)), {
            startImmediately: true
          })
      )
      yield* Fiber.interruptAll(asking)
      assert.strictEqual(yield* held("asking"), 0)
    }))

  test("applies the maximum of each call, per key", () =>
    Effect.gen(function*() {
      const { acquire } = yield* Places
      const acquired = yield* Effect.forEach(
        [["maximum", 1], ["maximum", 1], ["maximum", 2], ["other", 1], ["none", 0]] as const,
        ([key, max]) => acquire({ key, max })
      )
      assert.deepStrictEqual(acquired, [true, false, true, true, false])
    }))
}

/** Registers tests of leases. */
export const leaseTests = (test: Register, { sweeps }: Traits): void => {
  test("frees the places of a process that died when their leases end after 30 seconds", () =>
    Effect.gen(function*() {
      const { acquire, held, sweep } = yield* Places
      const store = yield* RateLimitStore
      const random = yield* SecureRandom.SecureRandom
      const lasts = Duration.seconds(30)
      yield* store.acquire([{ id: yield* random.uuidV7(), key: "died", max: 1, lasts }])
      yield* TestClock.adjust("29999 millis")
      assert.isFalse(yield* acquire({ key: "died", max: 1 }))
      yield* TestClock.adjust("1 millis")
      assert.isTrue(yield* acquire({ key: "died", max: 1 }))
      if (sweeps) assert.strictEqual(yield* sweep(10), 1)
      assert.strictEqual(yield* held("died"), 1)
    }))

  test("renews places from now, and stores again those that are missing", () =>
    Effect.gen(function*() {
      const { acquire, held, renew } = yield* RateLimitStore
      const random = yield* SecureRandom.SecureRandom
      const lasts = Duration.seconds(30)
      const [stored, missing] = [yield* random.uuidV7(), yield* random.uuidV7()].map((id) => ({ id, key: "renewed" }))
      yield* acquire([{ ...stored!, max: 1, lasts }])
      yield* TestClock.adjust("20 seconds")
      yield* renew([stored!, missing!], lasts)
      yield* TestClock.adjust("29999 millis")
      assert.strictEqual(yield* held("renewed"), 2)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* held("renewed"), 0)
    }))

  test("grants the places of a set in order, as far as they fit", () =>
    Effect.gen(function*() {
      const { acquire, held, release } = yield* RateLimitStore
      const random = yield* SecureRandom.SecureRandom
      const requests = yield* Effect.forEach(
        ["set a", "set b", "set a", "set a"],
        (key) => Effect.map(random.uuidV7(), (id) => ({ id, key, max: 2, lasts: Duration.seconds(30) }))
      )
      const granted = yield* acquire(requests)
      assert.sameMembers(granted.map(({ id }) => id), requests.slice(0, 3).map(({ id }) => id))
      yield* release(requests.slice(2))
      assert.deepStrictEqual([yield* held("set a"), yield* held("set b")], [1, 1])
    }))
}

/** Registers tests of sweeps. */
export const sweptLeaseTests = (test: Register, { sweeps }: Traits): void => {
  if (!sweeps) return
  test("deletes up to the limit of leases that have ended, and no others", () =>
    Effect.gen(function*() {
      const { acquire } = yield* RateLimitStore
      const { held, sweep } = yield* Places
      const random = yield* SecureRandom.SecureRandom
      while ((yield* sweep(1000)) > 0);
      for (const seconds of [10, 10, 10, 30]) {
        yield* acquire([{ id: yield* random.uuidV7(), key: "swept", max: 9, lasts: Duration.seconds(seconds) }])
      }
      assert.strictEqual(yield* sweep(10), 0)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([yield* sweep(2), yield* sweep(2), yield* sweep(2)], [2, 1, 0])
      assert.strictEqual(yield* held("swept"), 1)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Creates another process on the same store. */
const instance = () => processOf(Places, layerPlaces)
