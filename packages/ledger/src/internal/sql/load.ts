/** Locks accounts and loads their books. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Book from "../Book.ts"
import type { Loaded, LoadQuery } from "../stored.ts"
import { findLots } from "./findLots.ts"
import { findNamed } from "./findNamed.ts"
import { findQuotas } from "./findQuotas.ts"
import { lockAccounts } from "./lockAccounts.ts"

/** Locks first, so that the loading statements see every commit that preceded the locks. */
export const load = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, query: LoadQuery) {
  yield* lockAccounts(sql, query.accounts)
  const transactions = query.transactions.length === 0 ? [] : yield* findNamed(sql, query.transactions)
  const books = [...new Set(transactions.flatMap(({ entries }) => entries.flatMap(({ from, to }) => [from, to])))]
  const counted = books.filter(Book.isQuota).map((book) => Book.toQuota(book).day)
  const loaded: Loaded = {
    transactions,
    lots: yield* findLots(sql, { ...query, ids: [...query.lots, ...books.filter(Book.isLot)] }),
    quotas: yield* findQuotas(sql, { ...query, counted })
  }
  return loaded
})
