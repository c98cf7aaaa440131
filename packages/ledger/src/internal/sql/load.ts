/** Locks accounts and loads their books. */
import { Pipelining } from "@kinora/persistence"
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Day from "../Day.ts"
import type { Loaded, LoadQuery } from "../stored.ts"
import { findBooks } from "./findBooks.ts"
import { createAccounts, lockAccounts } from "./lockAccounts.ts"

/**
 * Locks first, so that the loading statement sees every commit that preceded the locks. Both are sent together. What was
 * loaded is loaded again if an account was missing, or if the clocks differ so much that it is of other days. Lots that
 * expire while the statement waits for the locks may be left out: they have expired when the unit decides.
 */
export const load = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, query: LoadQuery) {
  const around: Days = {
    first: Day.of(DateTime.subtract(query.days.first, margin)),
    last: Day.of(DateTime.add(query.days.last, margin))
  }
  const [locked, found] = yield* Pipelining.both(
    lockAccounts(sql, query.accounts),
    findBooks(sql, { ...query, days: around })
  )
  let aheadMillis = locked.aheadMillis
  if (locked.count < query.accounts.length) {
    yield* createAccounts(sql, query.accounts)
    aheadMillis = (yield* lockAccounts(sql, query.accounts)).aheadMillis
  }
  const days = daysAhead(query, aheadMillis)
  const isComplete = locked.count === query.accounts.length && around.first <= days.first && days.last <= around.last
  const books = isComplete ? found : yield* findBooks(sql, { ...query, days })
  const loaded: Loaded = { ...books, aheadMillis }
  return loaded
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Days {
  readonly first: Day.Day
  readonly last: Day.Day
}

/** More than the clocks of a host and its database usually differ. */
const margin = { minutes: 1 }

/** The days of a query on the clock of the database. */
const daysAhead = ({ days }: LoadQuery, aheadMillis: number): Days => {
  const dayOf = (at: DateTime.Utc) => Day.of(DateTime.add(at, { milliseconds: aheadMillis }))
  return { first: dayOf(days.first), last: dayOf(days.last) }
}
