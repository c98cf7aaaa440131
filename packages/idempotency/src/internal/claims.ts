/**
 * Rules of idempotency as pure functions: which requests are the same, how long a claim
 * holds, and which claim gets a slot. The memory store runs the decisions on slots;
 * `SqlIdempotencyStore` states the same rules in SQL.
 *
 *     free ──claim──▶ held ──(window ends)──▶ free
 *       ▲               │
 *       └────release────┘
 */
import * as Decision from "@kinora/persistence/Decision"
import { DateTime, Duration, Result } from "effect"
import { type Claim, Found, Outcome, type Request, type Windows } from "../Claim.ts"
import type { Fingerprint } from "../Fingerprint.ts"
import type { StoredResponse } from "../StoredResponse.ts"

/** Identifies a claim in a store. Requests with equal slots are repetitions of each other, or reuses of a key. */
export interface Slot {
  readonly scope: string
  readonly identity: string
}

/** A slot that is to be held or freed for a reference. */
export interface Holder extends Slot {
  readonly reference: string
}

/** A claim as a store holds it. */
export interface Held extends Holder {
  readonly fingerprint: Fingerprint
  readonly expiresAt: DateTime.Utc
  /** The response of a request of `Responses` that has ended. */
  readonly response?: StoredResponse | undefined
}

/** The response of a claim, and how long it is kept from then on. */
export interface Completion extends Holder {
  readonly response: StoredResponse
  readonly window: Duration.Duration
}

/** A claim to store, and how long it holds from then on. */
export interface Arriving extends Holder {
  readonly fingerprint: Fingerprint
  readonly window: Duration.Duration
}

/** A slot: the claim that it holds, expired or not. */
export type SlotState = Held | undefined

/** The slot of a request. The prefixes keep explicit and implicit keys apart. */
export const slotOf = ({ fingerprint, key, scope }: Request): Slot => ({
  scope,
  identity: key._tag === "Explicit" ? `key:${key.text}` : `body:${fingerprint}:${key.endpoint}`
})

/** The slot of a request whose response is stored. The prefix keeps it apart from claims without a response. */
export const responseSlotOf = ({ key, scope }: { readonly key: string; readonly scope: string }): Slot => ({
  scope,
  identity: `res:${key}`
})

/** Text that is equal only for equal slots. */
export const slotText = ({ identity, scope }: Slot): string => `${scope.length}:${scope}${identity}`

/** The claim to store for a request. */
export const arrivingOf = (claim: Claim, windows: Windows): Arriving => ({
  ...slotOf(claim),
  fingerprint: claim.fingerprint,
  reference: claim.reference,
  window: Duration.fromInputUnsafe(
    claim.window ??
      (claim.key._tag === "Explicit" ? windows.explicit ?? "24 hours" : windows.implicit ?? "120 seconds")
  )
})

/** Returns whether a claim holds at a time. */
export const holds = (held: Held, at: DateTime.Utc): boolean => DateTime.isLessThan(at, held.expiresAt)

/** Claims a slot that is free or whose claim has expired. Refuses with the claim that holds it. */
export const claim = (
  slot: SlotState,
  next: Arriving,
  now: DateTime.Utc
): Decision.Decision<SlotState, void, Held> =>
  slot !== undefined && holds(slot, now) ? Result.fail(slot) : Decision.accept(heldOf(next, now), undefined)

/** Moves the end of a claim to a later time. Refuses with the claim of another reference, or with a later end. */
export const extend = (
  slot: SlotState,
  next: Arriving,
  now: DateTime.Utc
): Decision.Decision<SlotState, void, Held> => {
  const extended = heldOf(next, now)
  if (slot === undefined || !holds(slot, now)) return Decision.accept(extended, undefined)
  return slot.reference === next.reference && DateTime.isLessThan(slot.expiresAt, extended.expiresAt)
    ? Decision.accept(extended, undefined)
    : Result.fail(slot)
}

/**
 * Groups a set of extensions into rounds, with one extension of each slot and reference. A
 * statement cannot change a row twice, so a slot occurs at most once per round, in the order
 * of the set. There is one round if all extensions of each slot have the same reference.
 */
export const extensionRoundsOf = (extensions: ReadonlyArray<Arriving>): ReadonlyArray<ReadonlyArray<Arriving>> => {
  const distinct = new Map<string, Arriving>()
  for (const extension of extensions) {
    const { reference } = extension
    distinct.set(`${reference.length}:${reference}${slotText(extension)}`, extension)
  }

  const rounds: Array<Array<Arriving>> = []
  const depths = new Map<string, number>()
  for (const extension of distinct.values()) {
    const slot = slotText(extension)
    const depth = depths.get(slot) ?? 0
    depths.set(slot, depth + 1)
    const round = rounds[depth] ??= []
    round.push(extension)
  }
  return rounds
}

/** Whether a claim is held for the reference, and has no response yet. */
const isRunning = (slot: SlotState, { reference }: Holder): slot is Held =>
  slot?.reference === reference && slot.response === undefined

/** Frees a slot that is held for the reference. Refuses a slot that is free, held for another one, or has a response. */
export const release = (slot: SlotState, holder: Holder): Decision.Decision<SlotState, void, SlotState> =>
  isRunning(slot, holder) ? Decision.accept(undefined, undefined) : Result.fail(slot)

/** Restarts the window of a claim that is held for the reference, also if it has expired. Refuses as `release` does. */
export const renew = (
  slot: SlotState,
  next: Arriving,
  now: DateTime.Utc
): Decision.Decision<SlotState, void, SlotState> =>
  isRunning(slot, next)
    ? Decision.accept({ ...slot, expiresAt: DateTime.addDuration(now, next.window) }, undefined)
    : Result.fail(slot)

/** Stores the response of a claim that is held for the reference, also if it has expired. Refuses as `release` does. */
export const complete = (
  slot: SlotState,
  { response, window, ...holder }: Completion,
  now: DateTime.Utc
): Decision.Decision<SlotState, void, SlotState> =>
  isRunning(slot, holder)
    ? Decision.accept({ ...slot, response, expiresAt: DateTime.addDuration(now, window) }, undefined)
    : Result.fail(slot)

/** The result of looking up a request, given the claim that holds its slot. */
export const find = (request: Request, slot: SlotState): Found => {
  if (slot === undefined) return Found.None()
  return slot.fingerprint === request.fingerprint ? Found.Replay({ reference: slot.reference }) : Found.Reused()
}

/** For each request, the index of the first one of the set with the same slot. */
const leadersOf = (requests: ReadonlyArray<Request>): ReadonlyArray<number> => {
  const first = new Map<string, number>()
  return requests.map((request, index) => {
    const slot = slotText(slotOf(request))
    const leader = first.get(slot)
    if (leader === undefined) first.set(slot, index)
    return leader ?? index
  })
}

/** The outcome of each claim of a set, in order, given the claims that held their slots. */
export const outcomesOf = (claims: ReadonlyArray<Claim>, held: ReadonlyArray<Held>): ReadonlyArray<Outcome> => {
  const heldBySlot = new Map(held.map((held) => [slotText(held), held]))
  return leadersOf(claims).map((leader, index) => {
    const claim = claims[index]!
    const standing = heldBySlot.get(slotText(slotOf(claim)))
    if (standing !== undefined) {
      return standing.fingerprint === claim.fingerprint
        ? Outcome.Replay({ reference: standing.reference })
        : Outcome.Reused()
    }
    if (leader === index) return Outcome.Claimed()
    return claims[leader]!.fingerprint === claim.fingerprint ? Outcome.Follower({ leader }) : Outcome.Reused()
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const heldOf = ({ fingerprint, identity, reference, scope, window }: Arriving, now: DateTime.Utc): Held => ({
  scope,
  identity,
  fingerprint,
  reference,
  expiresAt: DateTime.addDuration(now, window)
})
