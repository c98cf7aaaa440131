/** Finds the balances of an account. */
import { DateTime } from "effect"
import type { SqlClient } from "effect/sql"
import * as Day from "../Day.ts"
import type { BalancesQuery } from "../stored.ts"
import { findBooks } from "./findBooks.ts"

/** Finds also the counters of the days around, since the clock of the database, which decides on the day, is read by the same statement. */
export const findBalances = (sql: SqlClient.SqlClient, { account, at, lotsMax }: BalancesQuery) =>
  findBooks(sql, {
    accounts: [account],
    transactions: [],
    lots: [],
    holdsOf: [account],
    liveAfter: at,
    liveMax: lotsMax,
    days: { first: Day.of(DateTime.subtract(at, margin)), last: Day.of(DateTime.add(at, margin)) },
    readsClock: true
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** More than the clocks of a host and its database differ. */
const margin = { days: 1 }
