/** Locks accounts and loads their books. */
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Book from "../Book.ts"
import * as Day from "../Day.ts"
import type { Loaded, LoadQuery } from "../stored.ts"
import { findLots } from "./findLots.ts"
import { findNamed } from "./findNamed.ts"
import { findQuotas } from "./findQuotas.ts"
import { lockAccounts } from "./lockAccounts.ts"

/** Locks first, so that the loading statements see every commit that preceded the locks. */
export const load = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, query: LoadQuery) {
  const aheadMillis = yield* lockAccounts(sql, query.accounts)
  const transactions = query.transactions.length === 0 ? [] : yield* findNamed(sql, query.transactions)
  const books = [...new Set(transactions.flatMap(({ entries }) => entries.flatMap(({ from, to }) => [from, to])))]
  const counted = books.filter(Book.isQuota).map((book) => Book.toQuota(book).day)
  const dayOf = (at: DateTime.Utc) => Day.of(DateTime.add(at, { milliseconds: aheadMillis }))
  const days = { first: dayOf(query.days.first), last: dayOf(query.days.last) }
  const loaded: Loaded = {
    aheadMillis,
    transactions,
    lots: yield* findLots(sql, { ...query, ids: [...query.lots, ...books.filter(Book.isLot)] }),
    quotas: yield* findQuotas(sql, { accounts: query.accounts, days, counted })
  }
  return loaded
})
