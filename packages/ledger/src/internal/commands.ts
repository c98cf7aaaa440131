/** Commands to the ledger, and their results. */
import type { DateTime, Duration } from "effect"
import type { Lot } from "../Lot.ts"
import type { Day } from "./Day.ts"
import type { LotId } from "./ids.ts"
import type { Metadata } from "./metadata.ts"

/** Credits to take from lots, all or nothing, and which lots may pay. */
export interface Price {
  /** 0 to 10^12. */
  readonly credits: number
  /** The use of the credits. Lots with this purpose may pay besides those without one. 1 to 64 characters. */
  readonly purpose?: string | undefined
  /** Restricted kinds of lots that may pay too. Default: none. */
  readonly kindsAllowed?: ReadonlyArray<string> | undefined
}

/** A command whose transaction has metadata. */
interface Noted {
  /**
   * JSON that is stored with the transaction of the command and returned by `entries`. The ledger does not interpret it. A
   * repeated command does not replace it. At most 4,096 bytes.
   */
  readonly metadata?: Metadata | undefined
}

/** A command to charge an account once. */
export interface ChargeCommand extends Noted {
  readonly account: string
  /** Identifies the charge, for example by a job's id. An account is charged once per reference. 1 to 128 characters. */
  readonly reference: string
  readonly amount:
    /** Takes credits from lots. A charge of 0 is recorded and can be refunded like any other. */
    | (Price & { readonly _tag: "Credits" })
    | {
      /** Counts to a daily quota, all or nothing. */
      readonly _tag: "Quota"
      /** The name of the quota, for example `image`. 1 to 64 characters. */
      readonly kind: string
      /** The maximum that is counted per UTC day. 0 to 10^12. */
      readonly limit: number
      /** How much the charge counts. 1 to 10^12. Default 1. */
      readonly amount?: number | undefined
    }
  readonly at: DateTime.Utc
}

/** A command to refund what is left of a charge, or a part of it. */
export interface RefundCommand extends Noted {
  readonly account: string
  /** The reference of the charge. */
  readonly reference: string
  /** Refunds only a part. Default: all that is not refunded yet. */
  readonly part?: {
    /** Identifies the part among those of the charge, which are refunded once each. 1 to 128 characters. */
    readonly reference: string
    /** 1 to what is left of the charge. */
    readonly credits: number
  } | undefined
  readonly at: DateTime.Utc
}

/** A command to open a lot once per reference. */
export interface GrantCommand extends Noted {
  readonly account: string
  /** Identifies the grant, for example by a plan's period. 1 to 128 characters. */
  readonly reference: string
  /** One of the kinds that the ledger was created with. */
  readonly kind: string
  /** 1 to 10^12. */
  readonly credits: number
  readonly expiresAt: DateTime.Utc
  /** If set, the lot pays only for charges and holds with this purpose. 1 to 64 characters. */
  readonly purpose?: string | undefined
  /** Names that charges return if the lot pays. Up to 8 different ones of 1 to 64 characters. Default: none. */
  readonly labels?: ReadonlyArray<string> | undefined
  readonly at: DateTime.Utc
}

/** A command to hold credits, once per reference. */
export type HoldCommand = HeldCredits & HoldExpiry

/** The credits to hold. */
interface HeldCredits extends Noted, Price {
  readonly account: string
  /** Identifies the hold, and the charge that captures it, for example by a job's id. 1 to 128 characters. */
  readonly reference: string
  readonly at: DateTime.Utc
}

/** When a hold expires, at most `holdLifetimeMax` after `at`: a moment, or a duration by the clock of the storage. */
type HoldExpiry =
  | { readonly expiresAt: DateTime.Utc; readonly within?: undefined }
  | { readonly within: Duration.Input; readonly expiresAt?: undefined }

/** A command to charge credits of a hold, and to return the rest. */
export interface CaptureCommand extends Noted {
  readonly account: string
  /** The reference of the hold. */
  readonly reference: string
  /** 0 to the credits of the hold. Default: all of them. */
  readonly credits?: number | undefined
  readonly at: DateTime.Utc
}

/** A command to return the credits of a hold. */
export interface ReleaseCommand {
  readonly account: string
  /** The reference of the hold. */
  readonly reference: string
  readonly at: DateTime.Utc
}

/** The result of a charge. */
export type Charged =
  | {
    readonly _tag: "ChargedCredits"
    readonly credits: number
    /** The lots that paid, in the order in which they were used. */
    readonly parts: ReadonlyArray<LotPart>
    /** The labels of the lots that paid, each once. */
    readonly labels: ReadonlyArray<string>
  }
  | {
    readonly _tag: "ChargedQuota"
    readonly kind: string
    readonly day: Day
    /** How much the charge counted. */
    readonly amount: number
    /** The count of that day, including this charge. */
    readonly used: number
  }

/**
 * The result of a refund. `AlreadyRefunded` changes nothing: the part was refunded before, whatever its
 * credits were, or nothing is left of the charge.
 */
export type Refunded =
  | {
    readonly _tag: "Refunded"
    /** Refunded credits. 0 if a quota was charged. */
    readonly credits: number
    /**
     * The lots that were credited, in the order in which they paid: the ones that paid, or new ones in
     * place of lots that have expired.
     */
    readonly parts: ReadonlyArray<LotPart>
  }
  | { readonly _tag: "AlreadyRefunded" }

/** The result of a hold. */
export interface Held {
  readonly _tag: "Held"
  readonly credits: number
  /** The lots that gave the credits, in the order in which they were used. */
  readonly parts: ReadonlyArray<LotPart>
  readonly expiresAt: DateTime.Utc
}

/** The result of a capture. `AlreadyCaptured` changes nothing: the hold was captured before, with the same credits. */
export type Captured =
  | {
    readonly _tag: "Captured"
    /** Charged credits. */
    readonly credits: number
    /** The lots that paid, in the order in which they were used. */
    readonly parts: ReadonlyArray<LotPart>
    /** The labels of the lots that paid, each once. */
    readonly labels: ReadonlyArray<string>
    /** The credits that were not charged, by the lots that got them back: the ones that gave them, or new ones. */
    readonly returned: ReadonlyArray<LotPart>
  }
  | { readonly _tag: "AlreadyCaptured"; readonly credits: number }

/** The result of a release. `AlreadyReleased` changes nothing: the hold was released before, or has expired. */
export type Released =
  | {
    readonly _tag: "Released"
    /** Returned credits. */
    readonly credits: number
    /** The lots that got them back: the ones that gave them, or new ones in place of lots that have expired. */
    readonly parts: ReadonlyArray<LotPart>
  }
  | { readonly _tag: "AlreadyReleased" }

/**
 * The result of a grant. `AlreadyGranted` means that the reference opened a lot
 * before, whatever the earlier command asked for. Its `lot` is the current lot.
 */
export interface Granted {
  readonly _tag: "Granted" | "AlreadyGranted"
  readonly lot: Lot
}

/** Credits that a lot paid or got back. */
export interface LotPart {
  readonly lot: LotId
  readonly credits: number
}
