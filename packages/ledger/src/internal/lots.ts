/** Which lots pay, and in what order. */
import { type DateTime, Order } from "effect"
import { defaultKinds, type Lot, type LotKind } from "../Lot.ts"
import * as Check from "./check.ts"
import type { Price } from "./commands.ts"

/** The kinds of lots of a ledger. */
export interface LotOptions {
  /**
   * The kinds of lots by name, 1 to 64 characters. Granting another one is a defect. Lots of a kind that is missing here do
   * not pay, and keep their credits. Default: `Lot.defaultKinds`.
   */
  readonly lotKinds?: Readonly<Record<string, LotKind>> | undefined
  /**
   * The kind of the lots that refunds and the ends of holds open in place of expired ones. Not restricted. Default `refund`.
   */
  readonly refundKind?: string | undefined
}

/** The maximum number of labels of a lot. */
export const labelsMax = 8

/** The rules that follow from the options. */
export interface LotRules {
  readonly kinds: ReadonlyMap<string, LotKind>
  readonly refundKind: string
  /**
   * The order in which lots pay: soonest expiry first. Within one expiry lots with a purpose
   * come before general ones, then lots of a lower rank, then the oldest lot.
   */
  readonly spendingOrder: Order.Order<Lot>
}

/** Creates the rules. Throws if the options are invalid. */
export const makeRules = ({ lotKinds = defaultKinds, refundKind = "refund" }: LotOptions): LotRules => {
  const kinds = new Map(Object.entries<LotKind>(lotKinds))
  for (const [kind, { rank }] of kinds) {
    Check.name("A kind of lots", kind, 64)
    if (!Number.isFinite(rank)) throw new Error(`The rank of the kind ${kind} must be a finite number, got ${rank}`)
  }
  const rules = { kinds, refundKind, spendingOrder: spendingOrderOf(kinds) }
  if (isRestricted(rules, refundKind)) {
    throw new Error(`The kind of refunds, ${refundKind}, must be one of the kinds of lots, and not restricted`)
  }
  return rules
}

/** Returns true if the lot can no longer pay or take a refund at `at`. */
export const isExpired = (lot: Lot, at: DateTime.Utc): boolean =>
  lot.closed || lot.expiresAt.epochMilliseconds <= at.epochMilliseconds

/**
 * Returns true if lots of the kind pay only for commands that allow it. A kind without rules is restricted, so that its
 * credits are not spent by mistake by a host that does not have the kind yet.
 */
export const isRestricted = ({ kinds }: Pick<LotRules, "kinds">, kind: string): boolean =>
  kinds.get(kind)?.restricted ?? !kinds.has(kind)

/** Returns true if the lot may pay the price, unless it is empty or has expired. */
export const mayPay = (
  rules: LotRules,
  lot: Lot,
  { kindsAllowed = [], purpose }: Pick<Price, "kindsAllowed" | "purpose">
): boolean =>
  (lot.purpose === undefined || lot.purpose === purpose) &&
  (!isRestricted(rules, lot.kind) || kindsAllowed.includes(lot.kind))

/** Returns the kind of the lot that takes credits of an expired one. */
export const kindOfReturned = (rules: LotRules, kind: string): string =>
  isRestricted(rules, kind) ? kind : rules.refundKind

/** Throws unless the ledger has the kind. */
export const checkKind = ({ kinds }: LotRules, kind: string): void => {
  if (!kinds.has(kind)) {
    throw new Error(`A kind of lots must be one of ${[...kinds.keys()].join(", ")}, got ${JSON.stringify(kind)}`)
  }
}

/** Throws unless the labels of a lot are valid. */
export const checkLabels = (labels: ReadonlyArray<string>): void => {
  if (!Array.isArray(labels) || labels.length > labelsMax || new Set(labels).size < labels.length) {
    throw new Error(`The labels of a lot must be up to ${labelsMax} different names`)
  }
  for (const label of labels) Check.name("A label", label, 64)
}

/** Returns the labels of lots, each once. */
export const labelsOf = (lots: ReadonlyArray<Lot>): ReadonlyArray<string> => [
  ...new Set(lots.flatMap(({ labels }) => labels))
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const spendingOrderOf = (kinds: LotRules["kinds"]): Order.Order<Lot> =>
  Order.combineAll([
    Order.mapInput(Order.Number, (lot: Lot) => lot.expiresAt.epochMilliseconds),
    Order.mapInput(Order.Number, (lot: Lot) => lot.purpose === undefined ? 1 : 0),
    Order.mapInput(Order.Number, (lot: Lot) => kinds.get(lot.kind)?.rank ?? Infinity),
    Order.mapInput(Order.Number, (lot: Lot) => lot.openedAt.epochMilliseconds),
    Order.mapInput(Order.String, (lot: Lot) => lot.id)
  ])
