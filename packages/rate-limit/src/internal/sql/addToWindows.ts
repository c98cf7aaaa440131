/** Adds amounts to windows. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Counter from "../counter.ts"

/**
 * Adds amounts by the rule of `Windows.add`. Inserts only to lock rows in the order of their keys: a row that was missing
 * is empty and has expired.
 */
export const addToWindows = (sql: SqlClient.SqlClient, amounts: ReadonlyArray<Counter.Amount>) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
    INSERT INTO rate_limit_window AS counter (key, period, counts, expires_at, takes, cost, maximum, granted)
    SELECT key, period, ARRAY[0], ${now}, 0, amount, 0, 0
    FROM ${amountRows(amounts)}
    ORDER BY place
    ON CONFLICT (key) DO UPDATE
    SET counts = ARRAY[GREATEST(counter.counts[1] + excluded.cost, 0)]
    WHERE counter.period = excluded.period
  `).pipe(Effect.asVoid)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The amounts in the order of their keys, as those of `take`, which have no period yet. */
const amountRows = (amounts: ReadonlyArray<Counter.Amount>) =>
  Rows.table("added", Counter.sorted(amounts.map((amount) => ({ key: amount.key, amount }))), amountColumns, {
    place: "place"
  })

const amountColumns: Rows.Columns<{ readonly key: string; readonly amount: Counter.Amount }> = {
  ...Rows.fields({ key: "text" }),
  period: ["int8", ({ amount }) => amount.period],
  amount: ["int8", ({ amount }) => amount.amount]
}
