/** Lots: credits that are granted together, expire together and are spent in a fixed order. */
import type { DateTime } from "effect"
import type { LotId, TransactionId } from "./internal/ids.ts"

export { LotId } from "./internal/ids.ts"

/** Credits that were granted together. */
export interface Lot {
  readonly id: LotId
  readonly account: string
  /** The origin of the credits: one of the kinds that the ledger was created with. */
  readonly kind: string
  /** Credits that the lot was opened with, and the most that it can hold. */
  readonly granted: number
  /** Credits that are left: 0 to `granted`. */
  readonly remaining: number
  readonly openedAt: DateTime.Utc
  /** From this moment on the lot neither pays for charges nor takes refunds. */
  readonly expiresAt: DateTime.Utc
  /** If set, the lot pays only for charges and holds with this purpose. */
  readonly purpose: string | undefined
  /** Names for the caller. A charge that the lot pays returns them; the ledger does not act on them. */
  readonly labels: ReadonlyArray<string>
  /** The expiry was booked, so the lot takes no refunds, even from a host whose clock is behind. */
  readonly closed: boolean
  /** The transaction that opened the lot: a grant, or a refund of credits whose lot had expired. */
  readonly openedBy: TransactionId
}

/** How lots of a kind are spent. */
export interface LotKind {
  /** Within one expiry, lots of a lower rank pay first. A finite number. */
  readonly rank: number
  /**
   * Whether lots of the kind pay only for charges and holds that name it in `kindsAllowed`. Credits of an expired lot of the
   * kind are returned in a new lot of the same kind. Default false.
   */
  readonly restricted?: boolean | undefined
}

/** The kinds of a ledger that was created without `lotKinds`. */
export const defaultKinds = {
  plan: { rank: 0 },
  refund: { rank: 1 },
  addon: { rank: 2 },
  trial: { rank: 3, restricted: true }
} as const satisfies Readonly<Record<string, LotKind>>
