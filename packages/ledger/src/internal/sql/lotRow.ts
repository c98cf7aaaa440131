/**
 * Rows of lots.
 *
 * Builds before the columns `purpose` and `labels` write and read `images_only` and `watermark` instead. So both are written,
 * and rows without the new columns are read from the old ones.
 */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Lot } from "../../Lot.ts"
import { LotId, TransactionId } from "../ids.ts"

/** The columns to insert. A lot with any purpose is `images_only`, so that earlier builds do not spend it as a general one. */
export const insertedColumns: Rows.Columns<Lot> = {
  id: ["uuid", ({ id }) => LotId.toUuid(id)],
  ...Rows.fields({
    account: "text",
    kind: "text",
    granted: "int8",
    remaining: "int8",
    closed: "boolean",
    purpose: "text?",
    labels: "jsonb"
  }),
  opened_at: ["timestamptz", ({ openedAt }) => openedAt],
  expires_at: ["timestamptz", ({ expiresAt }) => expiresAt],
  opened_by: ["uuid", ({ openedBy }) => TransactionId.toUuid(openedBy)],
  images_only: ["boolean", ({ purpose }) => purpose !== undefined],
  watermark: ["boolean", ({ labels }) => labels.includes("watermark")]
}

/** The columns of `LotRow`. */
export const lotColumns = (sql: SqlClient.SqlClient) =>
  sql`
    id, account, kind, granted::float8 AS granted, remaining::float8 AS remaining, opened_at, expires_at,
    CASE WHEN images_only THEN coalesce(purpose, 'image') END AS purpose,
    coalesce(labels, CASE WHEN watermark THEN '["watermark"]' ELSE '[]' END::jsonb) AS labels,
    closed, opened_by
  `

/** A null for each column of `lotColumns`. */
export const noLot = (sql: SqlClient.SqlClient) =>
  sql.literal("NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL")

/** Decodes rows of lots. */
export const decodeLots = (
  rows: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<Lot>, Schema.SchemaError> => Effect.map(decodeRows(rows), (rows) => rows.map(toLot))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** int8 columns are read as float8, which is exact up to 2^53. */
const LotRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  kind: Schema.String,
  granted: Schema.Int,
  remaining: Schema.Int,
  opened_at: Rows.timestamptz,
  expires_at: Rows.timestamptz,
  purpose: Schema.NullOr(Schema.String),
  labels: Schema.Array(Schema.String),
  closed: Schema.Boolean,
  opened_by: Schema.String
})

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(LotRow))

const toLot = ({ expires_at, id, opened_at, opened_by, purpose, ...row }: typeof LotRow.Type): Lot => ({
  ...row,
  id: LotId.fromUuid(id),
  openedAt: opened_at,
  expiresAt: expires_at,
  purpose: purpose ?? undefined,
  openedBy: TransactionId.fromUuid(opened_by)
})
