/** The tables of counters of the calendar. */
import type { SqlClient } from "effect/sql"
import type { PeriodKind } from "../counter.ts"

/** Returns the table of a kind of period. */
export const counterTable = (sql: SqlClient.SqlClient, kind: PeriodKind) => sql(`rate_limit_${kind}`)
