import { assert, layer } from "@effect/vitest"
import { Rows, type StorageError, type UnitOfWork } from "@kinora/persistence"
import { transactions } from "@kinora/persistence/testing"
import { Effect, type Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  accepted,
  assertNoUpdateLost,
  chargeOf,
  concurrently,
  grantOf,
  holdOf,
  newAccount,
  noon,
  times
} from "../src/internal/contract/commands.ts"
import { Ledger } from "../src/Ledger.ts"
import type { LedgerError } from "../src/LedgerError.ts"

/** The folded operations, by reference. */
const operations = {
  charge: (ledger, account, reference) => ledger.charge(chargeOf(account, reference, 1)),
  refund: (ledger, account, reference) => ledger.refund({ account, reference, at: noon }),
  grant: (ledger, account, reference) => ledger.grant(grantOf(account, 5, { reference })),
  hold: (ledger, account, reference) => ledger.hold(holdOf(account, reference, 1)),
  capture: (ledger, account, reference) => ledger.capture({ account, reference, credits: 1, at: noon }),
  release: (ledger, account, reference) => ledger.release({ account, reference, at: noon })
} satisfies Record<
  string,
  (
    ledger: Ledger["Service"],
    account: string,
    reference: string
  ) => Effect.Effect<unknown, LedgerError | StorageError.StorageError>
>

/** The behaviour of single calls inside transactions of their callers. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork | SqlClient.SqlClient, E>,
  callers: number
) =>
  layer(backend)(`Ledger in transactions of its callers (${name})`, (it) => {
    for (const [way, transaction] of Object.entries(transactions)) {
      for (const [kind, operation] of Object.entries(operations)) {
        it.effect(`commits or rolls back each ${kind} with the row of its caller in ${way}`, () =>
          Effect.gen(function*() {
            const ledger = yield* Ledger
            const sql = yield* SqlClient.SqlClient
            const inTransaction = yield* transaction
            const accounts = times(5).map(newAccount)
            yield* createRequests
            yield* accepted(ledger.grantAll(accounts.map((account) => grantOf(account, 1_000, { reference: "start" }))))
            const calls = times(callers).map((n) => ({ account: accounts[n % 5]!, reference: `${n}` }))
            if (kind === "refund") {
              yield* accepted(ledger.chargeAll(calls.map(({ account, reference }) => chargeOf(account, reference, 1))))
            }
            if (kind === "capture" || kind === "release") {
              yield* accepted(ledger.holdAll(calls.map(({ account, reference }) => holdOf(account, reference, 2))))
            }

            const outcomes = yield* concurrently(calls.map(({ account, reference }, n) =>
              Effect.gen(function*() {
                yield* sql`INSERT INTO request (account, reference) VALUES (${account}, ${reference})`
                yield* operation(ledger, account, reference)
                if (n % 4 === 0) return yield* Effect.die("rolled back")
              }).pipe(inTransaction, Effect.exit)
            ))

            const count = callers * 3 / 4
            assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, count)
            assert.deepStrictEqual(yield* findInconsistent(accounts, kind === "capture" ? "charge" : kind), {
              count,
              inconsistent: 0
            })
            for (const account of accounts) {
              assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
            }
          }))
      }

      it.effect(`loses no update when calls on one account run concurrently in one ${way}`, () =>
        Effect.gen(function*() {
          yield* assertNoUpdateLost(yield* transaction)
        }))
    }
  })

const createRequests = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql`
    CREATE TABLE IF NOT EXISTS request (account text, reference text, PRIMARY KEY (account, reference))
  `)

/** Counts committed requests, and the requests and transactions of a kind that are without each other. */
const findInconsistent = Effect.fnUntraced(function*(accounts: ReadonlyArray<string>, kind: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`
    SELECT count(requested.reference)::int AS count,
      count(*) FILTER (WHERE requested.reference IS NULL OR booked.reference IS NULL)::int AS inconsistent
    FROM (SELECT account, reference FROM request WHERE account = ANY(${Rows.array("text", accounts)})) AS requested
    FULL JOIN (
      SELECT account, reference
      FROM ledger_transaction
      WHERE account = ANY(${Rows.array("text", accounts)}) AND kind = ${kind} AND reference <> 'start'
    ) AS booked USING (account, reference)
  `.pipe(Rows.decodeAll(Schema.Struct({ count: Schema.Int, inconsistent: Schema.Int })))
  return found
})
