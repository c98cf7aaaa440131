/** Lots, bookings and their verification, as operators see them. */
import { Schema, SchemaGetter } from "effect"
import { Reference, Time } from "./AdminAccount.ts"
import { DateTime, Int64 } from "./Scalar.ts"

/** The most credits that one lot can hold. */
export const lotCreditsMax = 1_000_000_000_000

/** Where the credits of a lot come from (D21). */
export const LotKind = Schema.Literals(["plan", "addon", "trial", "refund"])

/** Grants credits. */
export const GrantLotRequest = Schema.Struct({
  /** Names the grant: repeated as it was, it opens no second lot. */
  reference: Reference,
  kind: LotKind,
  /** 1 to 1 000 000 000 000. */
  credits: Int64.check(Schema.isBetween({ minimum: 1, maximum: lotCreditsMax })),
  /** In the future. */
  expires_at: Time,
  /** The lot pays for image jobs only. Default false. */
  images_only: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "GrantLotRequest" })
/** See the schema of the same name. */
export type GrantLotRequest = typeof GrantLotRequest.Type

/** Credits that were granted together and expire together. */
export const AdminLot = Schema.Struct({
  id: Schema.String,
  reference: Schema.String,
  kind: LotKind,
  /** What the lot was opened with. */
  credits: Int64,
  /** What is left of them. */
  remaining: Int64,
  images_only: Schema.Boolean,
  /** Trial lots carry a watermark, and API jobs never use them. */
  watermark: Schema.Boolean,
  expires_at: DateTime,
  created_at: DateTime
}).annotate({ identifier: "AdminLot" })
/** See the schema of the same name. */
export type AdminLot = typeof AdminLot.Type

/** A movement from one book to another: `lot_…`, `source:<kind>`, `consumed`, `expired`, `allowance`, `quota:<kind>:<day>`. */
export const AdminEntry = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  /** Credits, or jobs of a quota; at least 1. */
  amount: Int64
}).annotate({ identifier: "AdminEntry" })

/** Something that happened to an account, recorded once and never changed. */
export const AdminTransaction = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  kind: Schema.Literals(["grant", "charge", "refund", "expire"]),
  /** What it was for: of a charge or a refund, the job's id. */
  reference: Schema.String,
  created_at: DateTime,
  /** The sum of the entries; 0 for a job that cost nothing. */
  amount: Int64,
  /** Of a refund: the charge that it gave back. */
  reverses: Schema.NullOr(Schema.String),
  entries: Schema.Array(AdminEntry)
}).annotate({ identifier: "AdminTransaction" })

/** Transactions, oldest first. */
export const AdminTransactionList = Schema.Struct({ data: Schema.Array(AdminTransaction) }).annotate({
  identifier: "AdminTransactionList"
})

/** How many accounts one call compares, 1 to 10 000, as it stands in a query. */
export const AccountCount = Schema.String.check(
  Schema.isPattern(/^([1-9]\d{0,3}|10000)$/, { expected: "an integer from 1 to 10000" })
).pipe(
  Schema.decodeTo(Schema.Number, { decode: SchemaGetter.Number(), encode: SchemaGetter.String() })
)

/** A figure that differs from what the books say. */
export const AdminDiscrepancy = Schema.Struct({
  account: Schema.String,
  /** What differs. */
  figure: Schema.Literals(["remaining", "granted", "used", "amount"]),
  /** The lot, the quota's book or the transaction whose figure it is. */
  subject: Schema.String,
  /** What the books say; `null` when they know of nothing like it. */
  booked: Schema.NullOr(Int64),
  /** What is kept; `null` when it is missing. */
  kept: Schema.NullOr(Int64)
}).annotate({ identifier: "AdminDiscrepancy" })

/** What a verification found. In sound books `granted = remaining + consumed + expired`. */
export const AdminVerification = Schema.Struct({
  /** Accounts that were compared. */
  accounts: Int64,
  /** Credits of their lots. */
  totals: Schema.Struct({ granted: Int64, remaining: Int64, consumed: Int64, expired: Int64 }),
  /** The first 100; empty when all is sound. */
  discrepancies: Schema.Array(AdminDiscrepancy),
  /** `null` when no account is left; else to be sent as `cursor`. */
  next_cursor: Schema.NullOr(Schema.String)
}).annotate({ identifier: "AdminVerification" })
