/** Compares the SQL of the store with the rules in TypeScript, on random states. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Arbitrary, Duration, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { Books } from "../src/Books.ts"
import * as Book from "../src/internal/Book.ts"
import * as State from "../src/internal/booksState.ts"
import * as IdSequence from "../src/internal/IdSequence.ts"
import * as Lots from "../src/internal/lots.ts"
import { audit } from "../src/internal/memory/audit.ts"
import type { Loaded, LoadQuery, TransactionName } from "../src/internal/stored.ts"
import { LedgerStore } from "../src/LedgerStore.ts"
import { LotId } from "../src/Lot.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"
import { TransactionId } from "../src/Transaction.ts"
import * as Backends from "./Backends.ts"
import { command, decideAny, end, lotKinds, start } from "./BooksCommand.ts"
import { makeShelf } from "./Shelf.ts"

const referencesMax = 20

/** A statement that bypasses the ledger. */
const tampering = Schema.Struct({
  figure: Schema.Literals(["remaining", "granted", "used", "held", "amount", "no lot", "no counter", "no hold"]),
  /** The row, counted from the first. */
  row: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })),
  value: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))
})
type Tampering = typeof tampering.Type

let runs = 0

for (const [name, database] of TestDatabase.all) {
  layer(
    Layer.mergeAll(SqlLedgerStore.layer, SecureRandom.layerWebCrypto).pipe(Layer.provideMerge(Backends.over(database)))
  )(
    `SQL of the ledger (${name})`,
    (it) => {
      it.effect.prop(
        "saves, loads and audits any books as the rules do",
        [
          Arbitrary.schema(lotKinds),
          Arbitrary.array(Arbitrary.schema(command), { maxLength: 40 }),
          Schema.Array(tampering)
        ],
        ([lotKinds, commands, tamperings]) =>
          Effect.gen(function*() {
            const run = `${++runs}`
            const accounts = [`ann ${run}`, `bob ${run}`]
            const stored = yield* saveAll(
              commands.map((command) => ({
                ...command,
                account: `${command.account} ${run}`,
                reference: command.reference % referencesMax
              })),
              accounts,
              Lots.makeRules({ lotKinds })
            )
            const store = yield* LedgerStore
            assert.deepStrictEqual(
              yield* store.audit({ accounts, discrepanciesMax: 100 }),
              audit(stored)
            )
            const tampered = yield* Effect.reduce(tamperings, () => stored, tamper)
            assert.deepStrictEqual(
              yield* store.audit({ accounts, discrepanciesMax: 100 }),
              audit(tampered)
            )
          }),
        { arbitrary: { runs: 15 } }
      )
    }
  )
}

/** Decides the commands, saves from time to time, and compares what the store loads with what was decided. */
const saveAll = Effect.fnUntraced(function*(
  commands: ReadonlyArray<Parameters<typeof decideAny>[1]>,
  accounts: ReadonlyArray<string>,
  lotRules: Lots.LotRules
) {
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const store = yield* LedgerStore
  const shelf = makeShelf()
  const names = accounts.flatMap((account) =>
    Array.from({ length: referencesMax }, (_, n) => `${n}`).flatMap((reference) =>
      (["charge", "refund", "grant", "hold", "release"] as const).map((kind): TransactionName => ({
        account,
        kind,
        reference
      }))
    )
  )
  let ids = yield* IdSequence.make
  let hour = 8
  let rest = commands
  while (rest.length > 0) {
    const saved = rest.findIndex(({ saves }) => saves) + 1
    const set = saved === 0 ? rest : rest.slice(0, saved)
    rest = rest.slice(set.length)
    yield* atomically(Effect.gen(function*() {
      const query = queryOf(accounts, names, shelf.content())
      const loaded = yield* store.load(query)
      assert.deepStrictEqual(sorted(loaded), sorted(shelf.content()))
      let books: Books = State.make({
        loaded,
        requested: names,
        at: start,
        until: end,
        refundLifetime: Duration.hours(48),
        holdLifetimeMax: Duration.hours(48),
        holdsMax: 5,
        lotRules,
        ids
      })
      for (const command of set) {
        hour += command.waits
        books = decideAny(books, command, hour)
      }
      yield* store.save(State.changesOf(books))
      shelf.put(State.changesOf(books))
      ids = books.ids
    }))
  }
  assert.deepStrictEqual(
    sorted(yield* atomically(store.load(queryOf(accounts, names, shelf.content())))),
    sorted(shelf.content())
  )
  return shelf.content()
})

/** Loads everything of the accounts. Expiries are named by the lots that they closed. */
const queryOf = (
  accounts: ReadonlyArray<string>,
  names: ReadonlyArray<TransactionName>,
  { lots }: Loaded
): LoadQuery => ({
  accounts,
  transactions: [...names, ...lots.map(({ account, id }) => ({ account, kind: "expire", reference: id } as const))],
  lots: lots.map(({ id }) => id),
  holdsOf: accounts,
  liveAfter: start,
  liveMax: 1_000,
  days: { first: start, last: end }
})

const sorted = ({ holds, lots, openHolds, quotas, transactions }: Loaded) => ({
  holds: holds.toSorted((one, other) => one.openedBy < other.openedBy ? -1 : 1),
  openHolds: openHolds.toSorted((one, other) => one.account < other.account ? -1 : 1),
  lots: lots.toSorted((one, other) => one.id < other.id ? -1 : 1),
  quotas: quotas.toSorted((one, other) => counterOf(one) < counterOf(other) ? -1 : 1),
  transactions: transactions.toSorted((one, other) => one.id < other.id ? -1 : 1)
})

const counterOf = ({ account, day, kind }: Loaded["quotas"][number]) => `${account} ${Book.ofQuota(kind, day)}`

/** Changes one row in SQL, if there is one that the constraints allow to change, and the same in the loaded books. */
const tamper = Effect.fnUntraced(function*(books: Loaded, { figure, row, value }: Tampering) {
  const sql = yield* SqlClient.SqlClient
  const lot = books.lots[row % Math.max(1, books.lots.length)]
  const quota = books.quotas[row % Math.max(1, books.quotas.length)]
  const hold = books.holds[row % Math.max(1, books.holds.length)]
  const booked = books.transactions.filter(({ entries }) => entries.length > 0)
  const transaction = booked[row % Math.max(1, booked.length)]
  switch (figure) {
    case "remaining": {
      if (lot === undefined || lot.closed) return books
      const remaining = value % (lot.granted + 1)
      yield* sql`UPDATE ledger_lot SET remaining = ${remaining} WHERE id = ${LotId.toUuid(lot.id)}`
      return { ...books, lots: books.lots.map((one) => one === lot ? { ...lot, remaining } : one) }
    }
    case "granted": {
      if (lot === undefined) return books
      const granted = lot.granted + value
      yield* sql`UPDATE ledger_lot SET granted = ${granted} WHERE id = ${LotId.toUuid(lot.id)}`
      return { ...books, lots: books.lots.map((one) => one === lot ? { ...lot, granted } : one) }
    }
    case "used": {
      if (quota === undefined) return books
      yield* sql`
        UPDATE ledger_quota SET used = ${value}
        WHERE account = ${quota.account} AND day = ${quota.day}::date AND kind = ${quota.kind}
      `
      return { ...books, quotas: books.quotas.map((one) => one === quota ? { ...quota, used: value } : one) }
    }
    case "held": {
      if (hold === undefined) return books
      const credits = hold.credits + value
      yield* sql`
        UPDATE ledger_hold SET credits = ${credits} WHERE account = ${hold.account} AND reference = ${hold.reference}
      `
      return { ...books, holds: books.holds.map((one) => one === hold ? { ...hold, credits } : one) }
    }
    case "no hold": {
      if (hold === undefined) return books
      yield* sql`DELETE FROM ledger_hold WHERE account = ${hold.account} AND reference = ${hold.reference}`
      return { ...books, holds: books.holds.filter((one) => one !== hold) }
    }
    case "amount": {
      if (transaction === undefined) return books
      const [first, ...others] = transaction.entries
      const entries = [{ ...first!, amount: first!.amount + value }, ...others]
      yield* sql`ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_append_only`
      yield* sql`
        UPDATE ledger_entry SET amount = ${entries[0]!.amount}
        WHERE transaction_id = ${TransactionId.toUuid(transaction.id)} AND line = 0
      `
      yield* sql`ALTER TABLE ledger_entry ENABLE TRIGGER ledger_entry_append_only`
      const tampered = { ...transaction, entries }
      return { ...books, transactions: books.transactions.map((one) => one === transaction ? tampered : one) }
    }
    case "no lot": {
      if (lot === undefined) return books
      yield* sql`DELETE FROM ledger_lot WHERE id = ${LotId.toUuid(lot.id)}`
      return { ...books, lots: books.lots.filter((one) => one !== lot) }
    }
    case "no counter": {
      if (quota === undefined) return books
      yield* sql`
        DELETE FROM ledger_quota
        WHERE account = ${quota.account} AND day = ${quota.day}::date AND kind = ${quota.kind}
      `
      return { ...books, quotas: books.quotas.filter((one) => one !== quota) }
    }
  }
})
