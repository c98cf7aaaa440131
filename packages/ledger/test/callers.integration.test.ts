/** The ledger in transactions of programs with drivers of their own. */
import { assert, describe, it } from "@effect/vitest"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import * as External from "@kinora/persistence/external"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Ledger from "../src/Ledger.ts"
import { createLedger, InsufficientCreditsError } from "../src/promise.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"
import * as ContractParts from "./ContractParts.ts"
import * as JoinedUnits from "./JoinedUnits.ts"
import * as NotesContract from "./NotesContract.ts"

type Program = CallerTransactions.Program<External.Transaction>

/** A store whose units join transactions of a program. */
const store = (driver: (url: string) => Program) =>
  Layer.unwrap(Effect.map(CallerTransactions.open(driver), ({ pool, program }) =>
    SqlLedgerStore.layer.pipe(
      Layer.provideMerge(Layer.provide(JoinedUnits.layer(program), UnitOfWork.layerSqlWith({ deadline: "2 minutes" }))),
      Layer.provide(Migrations.layer(SqlLedgerStore.migrations)),
      Layer.provide(External.layerPg(pool))
    )))

const expiresAt = new Date("2099-01-01T00:00:00Z")

for (const [name, driver] of CallerTransactions.all<External.Transaction>(External)) {
  ContractParts.suite(`transactions of ${name}`, store(driver), ["lots and charges"])
  NotesContract.suite(
    `transactions of ${name}`,
    Ledger.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto), Layer.provideMerge(store(driver)))
  )
  // Its tests of concurrency take long. These drivers differ most from `pg`, on which `pgPool` runs them.
  if (["postgres.js", "Prisma"].includes(name)) {
    ContractParts.suite(`transactions of ${name}`, store(driver), ["units of work"])
  }

  describe(`createLedger for a program on ${name}`, () => {
    it.effect("is consistent with the rows of 200 requests of which a quarter rolls back", () =>
      Effect.gen(function*() {
        const { pool, program, url } = yield* CallerTransactions.open(driver)
        yield* Effect.promise(async () => {
          await using ledger = await createLedger({ url })
          for (let n = 0; n < 10; n++) {
            await ledger.grant({ account: `${n}`, reference: "start", kind: "addon", credits: 100, expiresAt })
          }
          await CallerTransactions.runRequests(
            program,
            200,
            (tx, { account, id }) => ledger.charge({ account, reference: id, credits: 1, tx })
          )
          const { rows } = await pool.query(`
            SELECT count(*)::int AS count,
              count(*) FILTER (WHERE request.id IS NULL OR booked.reference IS NULL)::int AS inconsistent
            FROM request
            FULL JOIN (SELECT * FROM ledger_transaction WHERE kind = 'charge') AS booked ON request.id = booked.reference
          `)
          assert.deepStrictEqual(rows, [{ count: 150, inconsistent: 0 }])
          for (let n = 0; n < 10; n++) {
            assert.strictEqual((await ledger.balances({ account: `${n}` })).credits, 85)
          }
        })
      }))

    it.effect("reads and refuses in the transaction, which stays usable", () =>
      Effect.gen(function*() {
        const { pool, program } = yield* CallerTransactions.open(driver)
        yield* Effect.promise(async () => {
          await using ledger = await createLedger({ pool })
          const account = "ada"
          await ledger.grant({ account, reference: "start", kind: "addon", credits: 10, expiresAt })
          await program.transaction(async ({ query, tx }) => {
            const error = await ledger.charge({ account, reference: "job", credits: 40, tx }).catch((e: unknown) => e)
            assert.instanceOf(error, InsufficientCreditsError)
            await query("INSERT INTO request VALUES ('refused', 'ada')")
            const metadata = { invoice: "2026-11" }
            await ledger.charge({ account, reference: "job", credits: 4, metadata, tx })
            const quota = { kind: "minutes", limit: 5, amount: 3 }
            await ledger.charge({ account, reference: "minutes", quota, tx })
            const exceeded = await ledger.charge({ account, reference: "more", quota, tx }).catch((e: unknown) => e)
            assert.deepInclude(exceeded, { code: "quota_exceeded", required: 3, available: 2 })
            assert.strictEqual((await ledger.balances({ account, tx })).credits, 6)
            assert.strictEqual((await ledger.balances({ account })).credits, 10)
            const entries = await ledger.entries({ account, tx })
            assert.deepStrictEqual(entries.map(({ kind, metadata }) => [kind, metadata]), [
              ["charge", undefined],
              ["charge", metadata],
              ["grant", undefined]
            ])
            assert.isBelow(Math.abs(entries[0]!.at.getTime() - Date.now()), 60_000)
            await ledger.refund({ account, reference: "job", tx })
            assert.deepStrictEqual((await ledger.verify({ account, tx })).discrepancies, [])
          })
          assert.strictEqual((await ledger.balances({ account })).credits, 10)
        })
      }))
  })
}
