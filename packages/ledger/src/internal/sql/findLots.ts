/** Finds lots. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Lot } from "../../Lot.ts"
import { LotId, TransactionId } from "../ids.ts"
import type { LoadQuery } from "../stored.ts"

/** Finds the lots of `ids`, and up to `liveMax` lots per account that are not empty and expire after `liveAfter`. */
export const findLots = (
  sql: SqlClient.SqlClient,
  { accounts, ids, liveAfter, liveMax }:
    & Pick<LoadQuery, "accounts" | "liveAfter" | "liveMax">
    & { readonly ids: ReadonlyArray<LotId> }
) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT id, account, kind, granted::float8 AS granted, remaining::float8 AS remaining,
      opened_at, expires_at, images_only, watermark, closed, opened_by
    FROM ledger_lot
    WHERE id = ANY(${Rows.array("uuid", ids.map(LotId.toUuid))})
    UNION
    SELECT live.*
    FROM ${Rows.table("wanted", accounts, { account: ["text", (account) => account] })}
    CROSS JOIN LATERAL (
      SELECT id, account, kind, granted::float8, remaining::float8,
        opened_at, expires_at, images_only, watermark, closed, opened_by
      FROM ledger_lot
      WHERE ledger_lot.account = wanted.account
        AND NOT closed
        AND expires_at > ${clock.toDatabase(liveAfter)}
        AND remaining > 0
      ORDER BY expires_at, id
      LIMIT ${liveMax}
    ) AS live
  `).pipe(decodeRows, Effect.map((rows) => rows.map(toLot)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** int8 columns are read as float8, which is exact up to 2^53. */
const LotRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  kind: Schema.Literals(["plan", "addon", "trial", "refund"]),
  granted: Schema.Int,
  remaining: Schema.Int,
  opened_at: Schema.DateTimeUtcFromDate,
  expires_at: Schema.DateTimeUtcFromDate,
  images_only: Schema.Boolean,
  watermark: Schema.Boolean,
  closed: Schema.Boolean,
  opened_by: Schema.String
})

const decodeRows = Rows.decodeAll(LotRow)

const toLot = ({ expires_at, id, images_only, opened_at, opened_by, ...row }: typeof LotRow.Type): Lot => ({
  ...row,
  id: LotId.fromUuid(id),
  openedAt: opened_at,
  expiresAt: expires_at,
  imagesOnly: images_only,
  openedBy: TransactionId.fromUuid(opened_by)
})
