import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Exit, Layer, Scope, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Budget, Places, RateLimit } from "../src/index.ts"
import { suite } from "../src/testing.ts"
import * as AdvancesContract from "./AdvancesContract.ts"
import * as AlgorithmsContract from "./AlgorithmsContract.ts"
import * as Backend from "./Backend.ts"
import * as BudgetContract from "./BudgetContract.ts"
import * as PlacesContract from "./PlacesContract.ts"
import * as RateLimitContract from "./RateLimitContract.ts"
import * as TransactionsContract from "./TransactionsContract.ts"
import * as WaitsContract from "./WaitsContract.ts"
import * as WindowsContract from "./WindowsContract.ts"

/** Ten per connection of the pool. */
const callersMax = 160

for (const [name, database, callers] of TestDatabase.all) {
  suite(name, Backend.over(database))
  RateLimitContract.suite(name, Backend.over(database))
  PlacesContract.suite(name, Backend.over(database))
  BudgetContract.suite(name, Backend.over(database))
  AdvancesContract.suite(name, Backend.over(database))
  WaitsContract.suite(name, Backend.over(database))
  WindowsContract.suite(name, Backend.over(database))
  AlgorithmsContract.suite(name, Backend.over(database))
  TransactionsContract.suite(name, Backend.over(database), Math.min(callers, callersMax))
}

const overPostgres = Layer.mergeAll(
  RateLimit.layer,
  Budget.layer,
  Places.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto))
).pipe(Layer.provideMerge(Backend.over(TestDatabase.postgres)))

/** Counts the statements of an effect. */
const statementsOf = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  let statements = 0
  const counting = Tracer.make({
    span: (options) => {
      if (options.kind === "client") statements++
      return new Tracer.NativeSpan(options)
    }
  })
  yield* Effect.withTracer(effect, counting)
  return statements
})

it.effect("needs one statement for a set, and none for keys whose minute is full", () =>
  Effect.gen(function*() {
    const { hitAll } = yield* RateLimit.RateLimit
    const { reserveAll } = yield* Budget.Budget
    const hits = Array.from({ length: 1000 }, (_, index) => ({ key: `counted ${index % 200}`, limit: 5 }))
    assert.strictEqual(yield* statementsOf(hitAll(hits)), 1)
    assert.strictEqual(yield* statementsOf(hitAll(hits)), 0)
    const requests = Array.from({ length: 100 }, (_, index) => ({ key: `counted ${index}`, limit: 5, amount: 3 }))
    assert.strictEqual(yield* statementsOf(reserveAll(requests)), 1)
  }).pipe(Effect.provide(overPostgres)))

it.effect("combines the amounts of concurrent calls, and returns to each call its own", () =>
  Effect.gen(function*() {
    const { reserveAll, used } = yield* Budget.Budget
    const call = (n: number) =>
      Effect.map(
        reserveAll([
          { key: "combined", limit: 100, amount: 7 },
          { key: `combined ${n}`, limit: n, amount: n },
          { key: `combined ${n} too`, limit: n - 1, amount: n }
        ]),
        (results) => results.map((result) => result._tag === "Granted" ? result.reservation.amount : 0)
      )
    const numbers = Array.from({ length: 9 }, (_, index) => index + 1)
    const all = Effect.forEach(numbers, call, { concurrency: "unbounded" })
    // An idle fold runs the first call alone.
    assert.strictEqual(
      yield* statementsOf(Effect.map(all, (results) => assert.deepStrictEqual(results, numbers.map((n) => [7, n, 0])))),
      2
    )
    assert.strictEqual(yield* used("combined"), 63)
  }).pipe(Effect.provide(overPostgres)))

it.effect("needs one statement to take places, and one to free them", () =>
  Effect.gen(function*() {
    const { acquire } = yield* Places.Places
    const requests = Array.from({ length: 10 }, (_, index) => ({ key: `counted ${index % 3}`, max: 2 }))
    const scope = yield* Scope.make()
    const acquired = yield* statementsOf(
      Effect.forEach(requests, (request) => Scope.provide(acquire(request), scope), { concurrency: "unbounded" })
    )
    // An idle fold runs the first request alone.
    assert.strictEqual(acquired, 2)
    const one = yield* Scope.make()
    assert.strictEqual(yield* statementsOf(Scope.provide(acquire({ key: "counted one", max: 1 }), one)), 1)
    assert.strictEqual(yield* statementsOf(Scope.close(one, Exit.void)), 1)
  }).pipe(Effect.provide(overPostgres)))

it.effect("reads a limit without reading the counters of other keys", () =>
  Effect.gen(function*() {
    const { hitAll, peek } = yield* RateLimit.RateLimit
    const sql = yield* SqlClient.SqlClient
    const counted = sql<{ readonly rows: number }>`
      SELECT (seq_tup_read + idx_tup_fetch)::int4 AS rows FROM pg_stat_xact_user_tables WHERE relid = 'rate_limit_minute'::regclass
    `.pipe(Effect.map(([found]) => found!.rows))
    const rows = yield* sql.withTransaction(Effect.gen(function*() {
      yield* hitAll(Array.from({ length: 1000 }, (_, index) => ({ key: `other ${index}`, limit: 5 })))
      const before = yield* counted
      yield* peek({ key: "other 7", limit: 5 })
      return (yield* counted) - before
    }))
    assert.strictEqual(rows, 1)
  }).pipe(Effect.provide(overPostgres)))

it.effect("does not deadlock when sets have their keys in different orders", () =>
  Effect.gen(function*() {
    const { hitAll } = yield* RateLimit.RateLimit
    const keys = Array.from({ length: 50 }, (_, index) => `crosswise ${index}`)
    const rounds = yield* Effect.forEach(
      Array.from({ length: 60 }, (_, index) => index % 2 === 0 ? keys : keys.toReversed()),
      (keys) => hitAll(keys.map((key) => ({ key, limit: 30 }))),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(rounds.flat().filter((verdict) => verdict.accepted).length, 50 * 30)
  }).pipe(Effect.provide(overPostgres)))
