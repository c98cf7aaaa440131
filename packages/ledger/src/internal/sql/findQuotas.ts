/** Finds counters. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Day } from "../Day.ts"
import type { QuotaCount } from "../stored.ts"

/** Finds the accounts' counters of the days from `first` to `last`, and of the `counted` days. */
export const findQuotas = (
  sql: SqlClient.SqlClient,
  { accounts, counted, days }: {
    readonly accounts: ReadonlyArray<string>
    readonly counted: ReadonlyArray<Day>
    readonly days: { readonly first: Day; readonly last: Day }
  }
) =>
  sql`
    SELECT account, kind, day, used::float8 AS used
    FROM ledger_quota
    WHERE account = ANY(${Rows.array("text", accounts)})
      AND (day BETWEEN ${days.first}::date AND ${days.last}::date OR day = ANY(${Rows.array("date", counted)}))
  `.pipe(decodeRows, Effect.map((rows) => rows.map(toQuota)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const QuotaRow = Schema.Struct({
  account: Schema.String,
  kind: Schema.String,
  day: Schema.String,
  used: Schema.Int
})

const decodeRows = Rows.decodeAll(QuotaRow)

const toQuota = (row: typeof QuotaRow.Type): QuotaCount => ({ ...row, day: row.day as Day }) // a `date` column
