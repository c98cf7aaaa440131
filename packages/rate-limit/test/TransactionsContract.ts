import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { type InTransaction, transactions } from "@kinora/persistence/testing"
import * as TestTime from "@kinora/testkit/TestTime"
import { Context, Effect, Exit, Layer, Queue, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { Budget, Places, RateLimit, RateLimitStore } from "../src/index.ts"

/** Every fourth caller rolls back. */
const isRolledBack = (n: number) => n % 4 === 0

/** Runs an effect per caller at the same time, each in a transaction. Returns the exits. */
const runAll = <A, E, R>(
  callers: ReadonlyArray<number>,
  inTransaction: InTransaction,
  call: (n: number) => Effect.Effect<A, E, R>
) =>
  Effect.forEach(
    callers,
    (n) =>
      Effect.tap(call(n), () => isRolledBack(n) ? Effect.die("rolled back") : Effect.void).pipe(
        inTransaction,
        Effect.exit
      ),
    { concurrency: "unbounded" }
  )

type Backend = RateLimitStore.RateLimitStore | UnitOfWork.UnitOfWork | SqlClient.SqlClient

/** The behaviour of calls inside transactions of their callers. */
export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>, callersCount: number) => {
  const callers = Array.from({ length: callersCount }, (_, n) => n)
  const committed = callers.filter((n) => !isRolledBack(n)).length
  layer(
    Layer.mergeAll(RateLimit.layer, Budget.layer).pipe(
      Layer.provideMerge(backend),
      Layer.provideMerge(SecureRandom.layerWebCrypto)
    )
  )(`Limits in transactions of their callers (${name})`, (it) => {
    for (const [way, transaction] of Object.entries(transactions)) {
      it.effect(`counts the hits of committed callers only (${way})`, () =>
        Effect.gen(function*() {
          const { hit, peek } = yield* RateLimit.RateLimit
          const request = { key: `hits ${way}`, limit: 1_000 }
          yield* runAll(callers, yield* transaction, () => hit(request))
          assert.strictEqual((yield* peek(request)).remaining, 1_000 - committed)
        }))

      it.effect(`peeks at the hits of its own transaction and of committed ones only (${way})`, () =>
        Effect.gen(function*() {
          const { hit, peek } = yield* RateLimit.RateLimit
          const requestOf = (n: number) => ({ key: `peeks ${n} ${way}`, limit: 10 })
          const remaining = (n: number) => Effect.map(peek(requestOf(n)), ({ remaining }) => remaining)
          const exits = yield* runAll(
            callers,
            yield* transaction,
            Effect.fnUntraced(function*(n) {
              yield* hit(requestOf(n))
              assert.strictEqual(yield* remaining(n), 9)
              // A neighbour that rolls back was never visible.
              if (isRolledBack(n + 1) && n + 1 < callersCount) assert.strictEqual(yield* remaining(n + 1), 10)
            })
          )
          assert.deepStrictEqual(exits.map(Exit.isSuccess), callers.map((n) => !isRolledBack(n)))
          const left = yield* Effect.forEach(callers, remaining)
          assert.deepStrictEqual(left, callers.map((n) => isRolledBack(n) ? 10 : 9))
        }))

      it.effect(`remembers no full minute of callers that roll back (${way})`, () =>
        Effect.gen(function*() {
          const { hit, peek } = yield* RateLimit.RateLimit
          const inTransaction = yield* transaction
          const request = { key: `full ${way}`, limit: 60 }
          const exits = yield* runAll(callers, inTransaction, () => hit(request))
          const accepted = exits.filter((exit) => Exit.isSuccess(exit) && exit.value.accepted).length
          assert.isAtMost(accepted, request.limit)
          assert.strictEqual((yield* peek(request)).remaining, request.limit - accepted)
          const more = yield* Effect.forEach(callers.slice(0, request.limit + 1), () => hit(request))
          assert.strictEqual(more.filter((verdict) => verdict.accepted).length, request.limit - accepted)

          const last = { key: `last ${way}`, limit: 1 }
          const undone = Effect.gen(function*() {
            assert.isTrue((yield* hit(last)).accepted)
            assert.isFalse((yield* hit(last)).accepted)
            assert.isFalse((yield* peek(last)).accepted)
            return yield* Effect.die("rolled back")
          })
          assert.isTrue(Exit.isFailure(yield* Effect.exit(inTransaction(undone))))
          assert.isTrue((yield* peek(last)).accepted)
          assert.isTrue((yield* hit(last)).accepted)
        }))

      it.effect(`reserves and settles the amounts of committed callers only (${way})`, () =>
        Effect.gen(function*() {
          const { reserve, settle, used } = yield* Budget.Budget
          const request = { key: `amounts ${way}`, limit: 10_000, amount: 10 }
          yield* runAll(
            callers,
            yield* transaction,
            Effect.fnUntraced(function*(n) {
              const reserved = yield* reserve(request)
              if (reserved._tag === "Granted" && n % 2 === 1) yield* settle(reserved.reservation, 4)
            })
          )
          const settled = callers.filter((n) => !isRolledBack(n) && n % 2 === 1).length
          assert.strictEqual(yield* used(request.key), settled * 4 + (committed - settled) * 10)
        }))

      it.effect(`holds and renews the places of committed callers only (${way})`, () =>
        Effect.gen(function*() {
          const { places: { acquire, held }, renewed } = yield* watchedPlaces
          const scope = yield* Scope.make()
          const request = { key: `places ${way}`, max: 1_000 }
          const exits = yield* runAll(callers, yield* transaction, () => Scope.provide(acquire(request), scope))
          assert.strictEqual(exits.filter((exit) => Exit.isSuccess(exit) && exit.value).length, committed)
          assert.strictEqual(yield* held(request.key), committed)
          yield* TestTime.advance("10 seconds")
          assert.strictEqual(yield* Queue.take(renewed), committed)
          assert.strictEqual(yield* held(request.key), committed)
          yield* Scope.close(scope, Exit.void)
          assert.strictEqual(yield* held(request.key), 0)
        }))

      it.effect(`renews no place whose scope closes in the transaction (${way})`, () =>
        Effect.gen(function*() {
          const { places: { acquire, held }, renewed } = yield* watchedPlaces
          const inTransaction = yield* transaction
          const outer = yield* Scope.make()
          const request = { key: `scopes ${way}`, max: 1_000 }
          const scopes = yield* Effect.forEach(callers.slice(0, 40), () => Scope.make())
          yield* Effect.forEach(scopes, (scope) => Scope.provide(acquire(request), scope))
          yield* Scope.provide(acquire({ key: `kept ${way}`, max: 1 }), outer)
          yield* Effect.forEach(scopes, (scope, n) =>
            Effect.gen(function*() {
              yield* Scope.close(scope, Exit.void)
              yield* Effect.scoped(acquire(request))
              if (isRolledBack(n)) return yield* Effect.die("rolled back")
            }).pipe(inTransaction, Effect.exit), { concurrency: "unbounded", discard: true })
          // The leases of callers that rolled back end by themselves.
          assert.strictEqual(yield* held(request.key), 10)
          yield* TestTime.advance("10 seconds")
          assert.strictEqual(yield* Queue.take(renewed), 1)
          yield* TestTime.advance("20 seconds")
          assert.strictEqual(yield* held(request.key), 0)
          yield* Scope.close(outer, Exit.void)
        }))
    }
  })
}

/** Places with a queue of the number of places that each renewal renewed. */
const watchedPlaces = Effect.gen(function*() {
  const store = yield* RateLimitStore.RateLimitStore
  const renewed = yield* Queue.unbounded<number>()
  const context = yield* Layer.build(Layer.fresh(Places.layer)).pipe(
    Effect.provideService(RateLimitStore.RateLimitStore, {
      ...store,
      renew: (places, lasts) => Effect.tap(store.renew(places, lasts), () => Queue.offer(renewed, places.length))
    })
  )
  return { places: Context.get(context, Places.Places), renewed }
})
