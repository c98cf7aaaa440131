/** Grants: how credits come into an account. */
import { Data, type DateTime } from "effect"
import type { Lot, LotKind } from "./Lot.ts"

/** Asks to open a lot, once for its reference. */
export interface GrantCommand {
  readonly account: string
  /** Names the grant, for instance a plan's period: repeated, it opens no second lot. 1 to 128 characters. */
  readonly reference: string
  readonly kind: LotKind
  /** 1 to `Ledger.creditsMax`. */
  readonly credits: number
  readonly expiresAt: DateTime.Utc
  /** The lot pays for image jobs only. Default false. */
  readonly imagesOnly?: boolean | undefined
  /** What the lot pays for carries a watermark. Default false. */
  readonly watermark?: boolean | undefined
  readonly at: DateTime.Utc
}

/** The lot was opened. */
export class Granted extends Data.TaggedClass("Granted")<{ readonly lot: Lot }> {}

/** This reference opened a lot before, whatever it asked for then. Nothing was done. */
export class AlreadyGranted extends Data.TaggedClass("AlreadyGranted")<{
  /** The lot as it is now. */
  readonly lot: Lot
}> {}

/** The lot would expire before it opens. */
export class GrantExpired extends Data.TaggedClass("GrantExpired")<{ readonly expiresAt: DateTime.Utc }> {}
