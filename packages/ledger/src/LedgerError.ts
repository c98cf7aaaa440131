/** Refusals of the ledger. A refused command changes nothing. */
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import * as Reasons from "./internal/reasons.ts"

/**
 * The reasons of refusals. `match` and `matchOrElse` handle them by tag, and `cases` has the class of each, for tests:
 *
 *     new LedgerError({ reason: new LedgerErrorReason.cases.InsufficientCredits({ required: 40, available: 10 }) })
 */
export const LedgerErrorReason = Schema.Union([
  Reasons.InsufficientCredits,
  Reasons.QuotaExceeded,
  Reasons.AlreadyCharged,
  Reasons.UnknownCharge,
  Reasons.RefundExceedsCharge,
  Reasons.IndivisibleCharge,
  Reasons.GrantExpired,
  Reasons.UnknownLot,
  Reasons.AlreadyHeld,
  Reasons.HoldExpired,
  Reasons.TooManyHolds,
  Reasons.UnknownHold,
  Reasons.HoldEnded,
  Reasons.CaptureExceedsHold,
  Reasons.CaptureDiffers
]).pipe(Schema.toTaggedUnion("_tag"))
/** Reason of a `LedgerError`. `Types.ExtractTag<LedgerErrorReason, "QuotaExceeded">` of Effect is one of them. */
export type LedgerErrorReason = typeof LedgerErrorReason.Type

/** The ledger refused a command. Nothing was changed. */
export class LedgerError extends Rejection.define<LedgerError>("@kinora/ledger/LedgerError")(
  "LedgerError",
  "The ledger",
  LedgerErrorReason
) {}
