/** Rows of holds. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Hold } from "../../Hold.ts"
import { TransactionId } from "../ids.ts"
import type { OpenHolds } from "../stored.ts"

/** The columns of a hold, selected from `ledger_hold`. */
export const holdColumns = (sql: SqlClient.SqlClient) =>
  sql`account, reference, credits::float8 AS credits, expires_at, state, opened_by`

/** Decodes rows of holds as JSON. */
export const decodeHolds = (
  rows: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<Hold>, Schema.SchemaError> =>
  Effect.map(decodeHoldRows(rows), (rows) => rows.map(toHold))

/** Decodes sums of open holds. */
export const decodeOpenHolds: (
  rows: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<OpenHolds>, Schema.SchemaError> = Schema.decodeUnknownEffect(Schema.Array(
  Schema.Struct({ account: Schema.String, count: Schema.Int, credits: Schema.Int })
))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** int8 columns are read as float8, which is exact up to 2^53. */
const HoldRow = Schema.Struct({
  account: Schema.String,
  reference: Schema.String,
  credits: Schema.Int,
  expires_at: Rows.timestamptz,
  state: Schema.Literals(["open", "captured", "released", "expired"]),
  opened_by: Schema.String
})

const decodeHoldRows = Schema.decodeUnknownEffect(Schema.Array(HoldRow))

const toHold = ({ expires_at, opened_by, ...row }: typeof HoldRow.Type): Hold => ({
  ...row,
  expiresAt: expires_at,
  openedBy: TransactionId.fromUuid(opened_by)
})
