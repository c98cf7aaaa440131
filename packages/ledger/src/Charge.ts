/** Charges and refunds: what is asked, and what the ledger answers. */
import { Data, type DateTime } from "effect"
import type { Day } from "./Day.ts"
import type { LotId } from "./Lot.ts"

/** Credits to take from lots, all or nothing. */
export interface CreditsAmount {
  readonly _tag: "Credits"
  /** 0 to `Ledger.creditsMax`. A charge of 0 is recorded and can be refunded like any other. */
  readonly credits: number
  /** Whether lots that are for images only may pay (D21). */
  readonly imagesOnlyAllowed: boolean
}

/** One charge to a daily quota. */
export interface QuotaAmount {
  readonly _tag: "Quota"
  /** Which quota, 1 to 64 characters: `image`, `video`, … */
  readonly kind: string
  /** Charges that a UTC day has room for. */
  readonly limit: number
}

/** Asks to charge an account once. */
export interface ChargeCommand {
  readonly account: string
  /** What is paid for, for instance a job's id: an account is charged once for it. 1 to 128 characters. */
  readonly reference: string
  readonly amount: CreditsAmount | QuotaAmount
  readonly at: DateTime.Utc
}

/** Asks to give back all that was charged under a reference. */
export interface RefundCommand {
  readonly account: string
  readonly reference: string
  readonly at: DateTime.Utc
}

/** What a lot paid or took back. */
export interface LotPart {
  readonly lot: LotId
  readonly credits: number
}

/** Credits were taken from these lots, in the order of D21. */
export class ChargedCredits extends Data.TaggedClass("ChargedCredits")<{
  readonly credits: number
  readonly parts: ReadonlyArray<LotPart>
}> {}

/** The day's quota counts one more. */
export class ChargedQuota extends Data.TaggedClass("ChargedQuota")<{
  readonly kind: string
  readonly day: Day
  /** Charges of that day, this one included. */
  readonly used: number
}> {}

/** The answer to a charge that was made. */
export type Charged = ChargedCredits | ChargedQuota

/** The lots that may pay hold less than the price. Nothing was taken. */
export class InsufficientCredits extends Data.TaggedClass("InsufficientCredits")<{
  readonly required: number
  /** What the lots that could pay for this hold. */
  readonly available: number
}> {}

/** The day's quota has no room. */
export class QuotaExceeded extends Data.TaggedClass("QuotaExceeded")<{
  readonly kind: string
  readonly limit: number
  readonly used: number
  /** The next 00:00 UTC. */
  readonly resetsAt: DateTime.Utc
}> {}

/** The account was charged for this reference before, refunded since or not. */
export class AlreadyCharged extends Data.TaggedClass("AlreadyCharged")<{
  readonly reference: string
}> {}

/** Why a charge was not made. */
export type ChargeRefusal = InsufficientCredits | QuotaExceeded | AlreadyCharged

/** All that the charge took went back. */
export class Refunded extends Data.TaggedClass("Refunded")<{
  /** Credits that went back; 0 when a quota was charged. */
  readonly credits: number
  /** The lots that took them: those that had paid, or new ones for parts whose lot had expired (D22). */
  readonly parts: ReadonlyArray<LotPart>
}> {}

/** The charge was refunded before, so nothing was done. */
export class AlreadyRefunded extends Data.TaggedClass("AlreadyRefunded")<{}> {}

/** The account was never charged for this reference. */
export class UnknownCharge extends Data.TaggedClass("UnknownCharge")<{
  readonly reference: string
}> {}
