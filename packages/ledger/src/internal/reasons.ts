/** The reasons to refuse a command. */
import { Schema } from "effect"
import { LotId } from "./ids.ts"

/** The states of a hold that has ended. */
const endStates = ["captured", "released", "expired"] as const

/** The lots that may pay hold less than the price. */
export class InsufficientCredits
  extends Schema.TaggedError<InsufficientCredits>("@kinora/ledger/InsufficientCredits")("InsufficientCredits", {
    /** The price. */
    required: Schema.Int,
    /** Credits in the lots that may pay. */
    available: Schema.Int
  })
{}

/** Less is left of the quota of the UTC day than the charge counts. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>("@kinora/ledger/QuotaExceeded")("QuotaExceeded", {
  kind: Schema.String,
  limit: Schema.Int,
  /** The count of that day. */
  used: Schema.Int,
  /** How much the charge would count. */
  required: Schema.Int,
  /** The rest of the limit. */
  available: Schema.Int,
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

/** The account has or had a hold with this reference. */
export class AlreadyHeld extends Schema.TaggedError<AlreadyHeld>("@kinora/ledger/AlreadyHeld")("AlreadyHeld", {
  reference: Schema.String,
  credits: Schema.Int,
  expiresAt: Schema.DateTimeUtc,
  /** `expired` also if the hold expired and its credits are not returned yet. */
  state: Schema.Literals(["open", ...endStates])
}) {}

/** The hold would have expired already. */
export class HoldExpired extends Schema.TaggedError<HoldExpired>("@kinora/ledger/HoldExpired")("HoldExpired", {
  expiresAt: Schema.DateTimeUtc
}) {}

/** The account has as many open holds as it may have. */
export class TooManyHolds extends Schema.TaggedError<TooManyHolds>("@kinora/ledger/TooManyHolds")("TooManyHolds", {
  limit: Schema.Int
}) {}

/** The account never had a hold with this reference. */
export class UnknownHold extends Schema.TaggedError<UnknownHold>("@kinora/ledger/UnknownHold")("UnknownHold", {
  reference: Schema.String
}) {}

/** The hold has ended, so it can be neither captured nor released. */
export class HoldEnded extends Schema.TaggedError<HoldEnded>("@kinora/ledger/HoldEnded")("HoldEnded", {
  reference: Schema.String,
  /** How it ended. `expired` also if its credits are not returned yet. */
  state: Schema.Literals(endStates)
}) {}

/** The hold has fewer credits than the capture would charge. */
export class CaptureExceedsHold extends Schema.TaggedError<CaptureExceedsHold>("@kinora/ledger/CaptureExceedsHold")(
  "CaptureExceedsHold",
  {
    reference: Schema.String,
    /** Credits of the capture. */
    credits: Schema.Int,
    /** Credits of the hold. */
    held: Schema.Int
  }
) {}

/** The hold was captured before, with other credits. */
export class CaptureDiffers extends Schema.TaggedError<CaptureDiffers>("@kinora/ledger/CaptureDiffers")(
  "CaptureDiffers",
  {
    reference: Schema.String,
    /** Credits of the refused capture. */
    credits: Schema.Int,
    /** Credits of the charge. */
    captured: Schema.Int
  }
) {}

/**
 * The reasons of refusals. `match` and `matchOrElse` handle them by tag, and `cases` has the class of each, for tests:
 *
 *     new LedgerError({ reason: new LedgerErrorReason.cases.InsufficientCredits({ required: 40, available: 10 }) })
 */
export const LedgerErrorReason = Schema.Union([
  InsufficientCredits,
  QuotaExceeded,
  AlreadyCharged,
  UnknownCharge,
  RefundExceedsCharge,
  IndivisibleCharge,
  GrantExpired,
  UnknownLot,
  AlreadyHeld,
  HoldExpired,
  TooManyHolds,
  UnknownHold,
  HoldEnded,
  CaptureExceedsHold,
  CaptureDiffers
]).pipe(Schema.toTaggedUnion("_tag"))
/** Reason of a `LedgerError`. `Types.ExtractTag<LedgerErrorReason, "QuotaExceeded">` of Effect is one of them. */
export type LedgerErrorReason = typeof LedgerErrorReason.Type
