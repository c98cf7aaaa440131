/**
 * Books in Postgres.
 *
 * A unit costs the same few statements for one command as for a thousand: one that
 * locks the accounts, three that load, one that writes. The reads are statements of
 * their own because under READ COMMITTED a statement sees what was committed when
 * it began, which for the locking one is before it had the locks.
 */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { migrations as ledgerMigrations } from "./internal/migrations.ts"
import { makeAudit } from "./internal/SqlAuditing.ts"
import * as SqlLoading from "./internal/SqlLoading.ts"
import { makeSave } from "./internal/SqlSaving.ts"
import { LedgerStore, type LoadQuery } from "./LedgerStore.ts"
import type { LotId } from "./Lot.ts"
import { type QuotaBook, quotaOfBook } from "./Transaction.ts"

/** The tables that this store expects. It runs no DDL of its own. */
export const migrations: Migrations = { namespace: "ledger", migrations: ledgerMigrations }

/** A store over the surrounding database. */
export const layer: Layer.Layer<LedgerStore, never, SqlClient.SqlClient> = Layer.effect(
  LedgerStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const lock = SqlLoading.makeLock(sql)
    const findNamed = SqlLoading.makeFindNamed(sql)
    const findLots = SqlLoading.makeFindLots(sql)
    const findQuotas = SqlLoading.makeFindQuotas(sql)
    const findExpired = SqlLoading.makeFindExpired(sql)
    const findTransactions = SqlLoading.makeFindTransactions(sql)
    const findAccounts = SqlLoading.makeFindAccounts(sql)
    const save = makeSave(sql)
    const audit = makeAudit(sql)

    const load = Effect.fnUntraced(function*(query: LoadQuery) {
      yield* lock(query.accounts)
      const transactions = query.transactions.length === 0 ? [] : yield* findNamed(query.transactions)
      const books = new Set(transactions.flatMap(({ entries }) => entries.flatMap(({ from, to }) => [from, to])))
      const lots = [...books].filter((book): book is LotId => book.startsWith("lot_"))
      const counted = [...books].filter((book): book is QuotaBook => book.startsWith("quota:"))
      return {
        transactions,
        lots: yield* findLots({ ...query, ids: [...query.lots, ...lots] }),
        quotas: yield* findQuotas({ ...query, counted: counted.map((book) => quotaOfBook(book).day) })
      }
    })

    return LedgerStore.of({
      load: (query) => load(query).pipe(mapSql("LedgerStore.load")),
      save: (changes) => save(changes).pipe(Effect.asVoid, mapSql("LedgerStore.save")),
      findExpired: (at, limit) => findExpired(at, limit).pipe(mapSql("LedgerStore.findExpired")),
      findBalances: ({ account, at, day, lotsMax }) =>
        Effect.all({
          lots: findLots({ ids: [], accounts: [account], liveAfter: at, liveMax: lotsMax }),
          quotas: findQuotas({ accounts: [account], days: { first: day, last: day }, counted: [] })
        }).pipe(mapSql("LedgerStore.findBalances")),
      findTransactions: (query) => findTransactions(query).pipe(mapSql("LedgerStore.findTransactions")),
      findAccounts: (after, limit) => findAccounts(after, limit).pipe(mapSql("LedgerStore.findAccounts")),
      audit: (query) => audit(query).pipe(mapSql("LedgerStore.audit"))
    })
  })
)
