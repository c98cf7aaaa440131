/** Refusals of the ledger. A refused command changes nothing. */
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import { LotId } from "./internal/ids.ts"

/** The lots that may pay hold less than the price. */
export class InsufficientCredits
  extends Schema.TaggedError<InsufficientCredits>("@kinora/ledger/InsufficientCredits")("InsufficientCredits", {
    /** The price. */
    required: Schema.Int,
    /** Credits in the lots that may pay. */
    available: Schema.Int
  })
{}

/** The quota of the UTC day is used up. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>("@kinora/ledger/QuotaExceeded")("QuotaExceeded", {
  kind: Schema.String,
  limit: Schema.Int,
  /** Charges of that day. */
  used: Schema.Int,
  /** The next 00:00 UTC. */
  resetsAt: Schema.DateTimeUtc
}) {}

/** The account was charged for this reference before. A refund does not free the reference. */
export class AlreadyCharged extends Schema.TaggedError<AlreadyCharged>("@kinora/ledger/AlreadyCharged")(
  "AlreadyCharged",
  { reference: Schema.String }
) {}

/** The account was never charged for this reference. */
export class UnknownCharge extends Schema.TaggedError<UnknownCharge>("@kinora/ledger/UnknownCharge")("UnknownCharge", {
  reference: Schema.String
}) {}

/** Less is left of the charge than the part to refund. */
export class RefundExceedsCharge extends Schema.TaggedError<RefundExceedsCharge>("@kinora/ledger/RefundExceedsCharge")(
  "RefundExceedsCharge",
  {
    reference: Schema.String,
    /** Credits of the part. */
    credits: Schema.Int,
    /** Credits of the charge that are not refunded yet. */
    refundable: Schema.Int
  }
) {}

/** The charge counted to a quota, of which no part can be refunded. */
export class IndivisibleCharge extends Schema.TaggedError<IndivisibleCharge>("@kinora/ledger/IndivisibleCharge")(
  "IndivisibleCharge",
  { reference: Schema.String }
) {}

/** The lot to grant has already expired. */
export class GrantExpired extends Schema.TaggedError<GrantExpired>("@kinora/ledger/GrantExpired")("GrantExpired", {
  expiresAt: Schema.DateTimeUtc
}) {}

/** The account has no lot with this id. */
export class UnknownLot extends Schema.TaggedError<UnknownLot>("@kinora/ledger/UnknownLot")("UnknownLot", {
  lot: LotId.schema
}) {}

/** Reasons to refuse a charge. */
export type ChargeRefusal = InsufficientCredits | QuotaExceeded | AlreadyCharged

/** Reasons to refuse a refund. */
export type RefundRefusal = UnknownCharge | RefundExceedsCharge | IndivisibleCharge

/** The ledger refused a command. Nothing was changed. */
export class LedgerError extends Rejection.define<LedgerError>("@kinora/ledger/LedgerError")(
  "LedgerError",
  "The ledger",
  Schema.Union([
    InsufficientCredits,
    QuotaExceeded,
    AlreadyCharged,
    UnknownCharge,
    RefundExceedsCharge,
    IndivisibleCharge,
    GrantExpired,
    UnknownLot
  ])
) {}
