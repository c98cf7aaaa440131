/** How the ledger's values are kept in SQL: native uuids, dates, and lots' books as `lot:<uuid>`. */
import { Schema } from "effect"
import type { Day } from "../Day.ts"
import type { QuotaCount } from "../LedgerStore.ts"
import { type Lot, LotId, LotKind } from "../Lot.ts"
import { type Book, type Transaction, TransactionId, TransactionKind } from "../Transaction.ts"

/** A lot's row. int8 columns are read as float8, which is exact up to 2^53. */
export const LotRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  kind: LotKind,
  granted: Schema.Int,
  remaining: Schema.Int,
  opened_at: Schema.DateTimeUtcFromDate,
  expires_at: Schema.DateTimeUtcFromDate,
  images_only: Schema.Boolean,
  watermark: Schema.Boolean,
  closed: Schema.Boolean,
  opened_by: Schema.String
})

/** The lot of a row. */
export const toLot = (row: typeof LotRow.Type): Lot => ({
  id: LotId.fromUuid(row.id),
  account: row.account,
  kind: row.kind,
  granted: row.granted,
  remaining: row.remaining,
  openedAt: row.opened_at,
  expiresAt: row.expires_at,
  imagesOnly: row.images_only,
  watermark: row.watermark,
  closed: row.closed,
  openedBy: TransactionId.fromUuid(row.opened_by)
})

/** A counter's row. */
export const QuotaRow = Schema.Struct({
  account: Schema.String,
  kind: Schema.String,
  day: Schema.String,
  used: Schema.Int
})

/** The counter of a row. */
export const toQuota = (row: typeof QuotaRow.Type): QuotaCount => ({ ...row, day: row.day as Day }) // a `date` column

/** A transaction's row, its entries in the order of their lines. */
export const TransactionRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  kind: TransactionKind,
  reference: Schema.String,
  at: Schema.DateTimeUtcFromDate,
  amount: Schema.Int,
  reverses: Schema.NullOr(Schema.String),
  entries: Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String, amount: Schema.Int }))
})

/** The transaction of a row. */
export const toTransaction = (row: typeof TransactionRow.Type): Transaction => ({
  ...row,
  id: TransactionId.fromUuid(row.id),
  reverses: row.reverses === null ? undefined : TransactionId.fromUuid(row.reverses),
  entries: row.entries.map(({ amount, from, to }) => ({ from: toBook(from), to: toBook(to), amount }))
})

/** What `Audit.Discrepancy` needs, with the database's subjects. */
export const DiscrepancyRow = Schema.Struct({
  account: Schema.String,
  figure: Schema.Literals(["remaining", "granted", "used", "amount"]),
  subject: Schema.String,
  booked: Schema.NullOr(Schema.Number),
  kept: Schema.NullOr(Schema.Number)
})

/** The text of a book. */
export const fromBook = (book: Book): string => book.startsWith("lot_") ? `lot:${LotId.toUuid(book as LotId)}` : book

/** The book of a text that `fromBook` made. */
export const toBook = (text: string): Book =>
  text.startsWith("lot:") ? LotId.fromUuid(text.slice("lot:".length)) : text as Book // written by `fromBook` only
