/** Claims and responses belong to the transaction of their caller, whoever opened it. */
import { assert, layer } from "@effect/vitest"
import { type InTransaction, transactions } from "@kinora/persistence/testing"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Exit, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Claim } from "../src/Claim.ts"
import { Idempotency, layer as layerIdempotency } from "../src/Idempotency.ts"
import { IdempotencyKey } from "../src/IdempotencyKey.ts"
import { fingerprintOf, requestOf } from "../src/internal/contract/requests.ts"
import { again, completeRunning, first } from "../src/internal/contract/runningRequests.ts"
import { layerWith as layerResponses, type Responses } from "../src/Responses.ts"
import * as Backend from "./Backend.ts"

/** Claims without keys, one per caller. */
const makeClaims = (callers: number) =>
  Effect.sync(() => {
    const request = requestOf(`transactions ${++scopes}`, IdempotencyKey.Implicit({ endpoint: "orders" }))
    return Array.from({ length: callers }, (_, n): Claim => ({
      ...request,
      fingerprint: fingerprintOf(String(n)),
      reference: String(n)
    }))
  })

let scopes = 0

/** Rows of the caller, in a table of its own. */
const makeRows = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const set = `set-${++scopes}`
  yield* sql`CREATE TABLE IF NOT EXISTS caller_row (set text, n int4, PRIMARY KEY (set, n))`
  return {
    insert: (n: number) => sql`INSERT INTO caller_row (set, n) VALUES (${set}, ${n})`,
    all: Effect.map(
      sql<{ n: number }>`SELECT n FROM caller_row WHERE set = ${set}`,
      (rows) => new Set(rows.map(({ n }) => n))
    )
  }
})

/** The callers whose requests have a claim. */
const claimed = Effect.fnUntraced(function*(claims: ReadonlyArray<Claim>) {
  const { findAll } = yield* Idempotency
  const found = yield* findAll(claims)
  return new Set(found.flatMap(({ _tag }, n) => _tag === "Replay" ? n : []))
})

/** Runs a caller per claim in a transaction that also inserts a row. Every fourth one rolls back. */
const runAll = Effect.fnUntraced(function*(
  claims: ReadonlyArray<Claim>,
  transaction: InTransaction,
  run: (claim: Claim, n: number) => Effect.Effect<unknown, unknown>
) {
  const rows = yield* makeRows
  const exits = yield* Effect.forEach(claims, (claim, n) =>
    rows.insert(n).pipe(
      Effect.andThen(run(claim, n)),
      Effect.andThen(n % 4 === 0 ? Effect.fail("rolled back") : Effect.void),
      transaction,
      Effect.exit
    ), { concurrency: "unbounded" })
  exits.forEach((exit, n) => assert.strictEqual(Exit.isSuccess(exit), n % 4 !== 0, String(exit)))
  return yield* rows.all
})

for (const [name, database, callers] of TestDatabase.all) {
  layer(
    Layer.merge(layerIdempotency, layerResponses({})).pipe(
      Layer.provideMerge(Layer.merge(Backend.over(database), SecureRandom.layerWebCrypto))
    )
  )(`Transactions (${name})`, (it) => {
    for (const [transactionName, getTransaction] of Object.entries(transactions)) {
      it.effect(
        `once commits and rolls back with the rows of its caller in ${transactionName}`,
        () =>
          Effect.gen(function*() {
            const { once } = yield* Idempotency
            const claims = yield* makeClaims(callers)
            const inserted = yield* runAll(claims, yield* getTransaction, (claim) => once(claim, Effect.void))
            assert.strictEqual(inserted.size, callers * 3 / 4)
            assert.deepStrictEqual(yield* claimed(claims), inserted)
          })
      )

      it.effect(
        `extend commits and rolls back with the rows of its caller in ${transactionName}`,
        () =>
          Effect.gen(function*() {
            const { claimAll, extend } = yield* Idempotency
            const claims = yield* makeClaims(callers)
            yield* claimAll(claims)
            yield* TestClock.adjust("60 seconds")
            const inserted = yield* runAll(claims, yield* getTransaction, extend)
            assert.strictEqual(inserted.size, callers * 3 / 4)
            // After the end of the first window only extended claims hold.
            yield* TestClock.adjust("60 seconds")
            assert.deepStrictEqual(yield* claimed(claims), inserted)
          })
      )

      it.effect(`find reads the claims of its own ${transactionName} only`, () =>
        Effect.gen(function*() {
          const { claimAll, find } = yield* Idempotency
          const claims = yield* makeClaims(callers)
          const transaction = yield* getTransaction
          yield* runAll(claims, transaction, (own, n) =>
            Effect.gen(function*() {
              const other = claims[(n + 1) % callers]!
              yield* claimAll([own])
              assert.strictEqual((yield* find(own))._tag, "Replay")
              // A neighbour that rolls back was never visible.
              if ((n + 1) % 4 === 0) assert.strictEqual((yield* find(other))._tag, "None")
            }))
        }))

      it.effect(`responses are those of its own ${transactionName} and of committed ones only`, () =>
        Effect.gen(function*() {
          const claims = yield* makeClaims(callers)
          const services = yield* Effect.context<Responses>()
          const scopeOf = (n: number) => `${claims[n]!.scope} ${n}`
          const inserted = yield* runAll(claims, yield* getTransaction, (_, n) =>
            Effect.gen(function*() {
              yield* completeRunning(yield* first(scopeOf(n)))
              assert.strictEqual(yield* again(scopeOf(n)), "Replay")
            }).pipe(Effect.provideContext(services)))
          assert.strictEqual(inserted.size, callers * 3 / 4)
          const tags = yield* Effect.forEach(claims, (_, n) => again(scopeOf(n)))
          assert.deepStrictEqual(tags, claims.map((_, n) => inserted.has(n) ? "Replay" : "First"))
        }))
    }
  })
}
