/** Rules of one delivery: claim, settlement, release, restart and expiry. */
import { accept, type Decision } from "@kinora/persistence/Decision"
import { DateTime, Result } from "effect"
import type { Claim, Delivery } from "../../Delivery.ts"
import type { InsertedEvent, NewDelivery, Settlement } from "../../WebhookStore.ts"

/** A delivery with everything that its rules depend on. */
export interface DeliveryState extends Delivery {
  /** When it was published or resent. */
  readonly begunAt: DateTime.Utc
  /** Number of claims so far. */
  readonly claims: number
  /** Number of claims that are not attempts: those before a resend and released ones. */
  readonly claimsVoid: number
  /** Whether the newest claim is neither settled nor released. */
  readonly isClaimed: boolean
  /** Body of the first send; `null` until it is stored and after the delivery has ended. */
  readonly body: Uint8Array | null
}

/** Returns the delivery of a published event, due immediately. */
export const published = (
  { endpoint, id }: NewDelivery,
  { createdAt, id: event, subject, type }: InsertedEvent
): DeliveryState => ({
  id,
  event,
  endpoint,
  type,
  subject: subject ?? null,
  status: "pending",
  failedSends: 0,
  createdAt,
  dueAt: createdAt,
  begunAt: createdAt,
  claims: 0,
  claimsVoid: 0,
  isClaimed: false,
  body: null
})

/** Returns whether a pending delivery is due. */
export const isDue = ({ dueAt }: DeliveryState, now: DateTime.Utc): boolean =>
  dueAt !== null && DateTime.isLessThanOrEqualTo(dueAt, now)

/** A claim, with its number of attempts and the time at which the delivery was due. */
export interface ClaimMade extends Claim {
  readonly attempt: number
  readonly dueAt: DateTime.Utc
}

/** Claims a due delivery until `until`. */
export const claim = (
  delivery: DeliveryState,
  { now, until }: { readonly now: DateTime.Utc; readonly until: DateTime.Utc }
): Decision<DeliveryState, ClaimMade, "NotDue"> => {
  const { claimsVoid, dueAt } = delivery
  if (dueAt === null || !isDue(delivery, now)) return Result.fail("NotDue")
  const claims = delivery.claims + 1
  return accept(
    { ...delivery, claims, isClaimed: true, dueAt: until },
    { delivery: delivery.id, claims, attempt: claims - claimsVoid, dueAt }
  )
}

/** Stores the body of the first send of a claimed delivery. */
export const freeze = (delivery: DeliveryState, body: Uint8Array): Decision<DeliveryState, void, "NotClaimed"> =>
  delivery.isClaimed ? accept({ ...delivery, body }, undefined) : Result.fail("NotClaimed")

/** Applies the outcome of a send, if the claim still holds. */
export const settle = (
  delivery: DeliveryState,
  settlement: Settlement
): Decision<DeliveryState, Delivery["id"], "ClaimLost"> => {
  if (!holds(delivery, settlement)) return Result.fail("ClaimLost")
  const { next } = settlement
  if (next._tag === "Delivered") return accept(ended(delivery, "delivered"), delivery.id)
  const failed = { ...delivery, failedSends: delivery.failedSends + (isFailedSend(settlement) ? 1 : 0) }
  if (next._tag === "Failed") return accept(ended(failed, "failed"), delivery.id)
  const body = delivery.body ?? settlement.body ?? null
  return accept({ ...failed, dueAt: next.dueAt, isClaimed: false, body }, delivery.id)
}

/** Releases a claim, if it still holds. It does not count as an attempt. */
export const release = (
  delivery: DeliveryState,
  { at, claim }: { readonly claim: Claim; readonly at: DateTime.Utc }
): Decision<DeliveryState, void, "ClaimLost"> =>
  holds(delivery, claim)
    ? accept({ ...delivery, isClaimed: false, claimsVoid: delivery.claimsVoid + 1, dueAt: at }, undefined)
    : Result.fail("ClaimLost")

/** Makes a delivery pending and due at `at`, without failed sends and without a body. Earlier claims no longer count. */
export const restart = (delivery: DeliveryState, at: DateTime.Utc): Decision<DeliveryState, void, "Pending"> =>
  delivery.status === "pending" ? Result.fail("Pending") : accept({
    ...delivery,
    status: "pending",
    dueAt: at,
    begunAt: at,
    failedSends: 0,
    claimsVoid: delivery.claims,
    body: null
  }, undefined)

/** Fails a pending delivery that began before `before`. Rejects one under a lease at `now`, whose send may still succeed. */
export const expire = (
  delivery: DeliveryState,
  { before, now }: { readonly before: DateTime.Utc; readonly now: DateTime.Utc }
): Decision<DeliveryState, void, "NotExpired"> => {
  const isLeased = delivery.isClaimed && !isDue(delivery, now)
  return delivery.status !== "pending" || isLeased || !DateTime.isLessThan(delivery.begunAt, before)
    ? Result.fail("NotExpired")
    : accept(ended(delivery, "failed"), undefined)
}

/** Orders deliveries of an endpoint by when they are due, then by id. */
export const byDueAt = (a: DeliveryState, b: DeliveryState): number =>
  (a.dueAt === null || b.dueAt === null ? 0 : DateTime.Order(a.dueAt, b.dueAt)) || byText(a.id, b.id)

/** Orders ids. */
export const byText = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const holds = (delivery: DeliveryState, { claims }: Claim): boolean => delivery.isClaimed && delivery.claims === claims

/** A delivery to a disabled endpoint was not sent. */
const isFailedSend = ({ send }: Settlement): boolean => send !== null && send.outcome.reason !== "disabled"

/** An ended delivery has no body: a resend makes a new one. */
const ended = (delivery: DeliveryState, status: "delivered" | "failed"): DeliveryState => ({
  ...delivery,
  status,
  dueAt: null,
  isClaimed: false,
  body: null
})
