/** Locks accounts and loads their books. */
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Day from "../Day.ts"
import type { Loaded, LoadQuery } from "../stored.ts"
import { findBooks } from "./findBooks.ts"
import { lockAccounts } from "./lockAccounts.ts"

/** Locks first, so that the loading statement sees every commit that preceded the locks. */
export const load = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, query: LoadQuery) {
  const aheadMillis = yield* lockAccounts(sql, query.accounts)
  const dayOf = (at: DateTime.Utc) => Day.of(DateTime.add(at, { milliseconds: aheadMillis }))
  const days = { first: dayOf(query.days.first), last: dayOf(query.days.last) }
  const loaded: Loaded = { ...(yield* findBooks(sql, { ...query, days })), aheadMillis }
  return loaded
})
