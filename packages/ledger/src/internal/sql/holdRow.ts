/** Rows of holds. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Hold } from "../../Hold.ts"
import { TransactionId } from "../ids.ts"
import type { OpenHolds } from "../stored.ts"

/** Selects the holds with the references of the charges in the table `name`. */
export const holdsOfCharges = (sql: SqlClient.SqlClient) =>
  sql`
    SELECT found.*
    FROM name
    CROSS JOIN LATERAL (
      SELECT account, reference, credits::float8 AS credits, expires_at, state, opened_by
      FROM ledger_hold
      WHERE ledger_hold.account = name.account AND ledger_hold.reference = name.reference
    ) AS found
    WHERE name.kind = 'charge'
  `

/** Sums up the open holds of each account that has some. */
export const openHoldsOf = (sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) =>
  sql`
    SELECT account, count(*)::int4 AS count, sum(credits)::float8 AS credits
    FROM ledger_hold
    WHERE account = ANY(${Rows.array("text", accounts, { unknownLength: true })}) AND state = 'open'
    GROUP BY account
  `

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
