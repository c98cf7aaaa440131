/**
 * The rules of idempotency, without a database: which requests are the same, how
 * long a claim holds, and what a request may do.
 *
 *     free ──claim──▶ held ──(window over)──▶ free
 *       ▲               │
 *       └───release─────┘   a refused request leaves nothing behind
 */
import { Data, DateTime, type Duration } from "effect"
import type { Fingerprint } from "./Fingerprint.ts"
import type { IdempotencyKey } from "./IdempotencyKey.ts"

/** A request that must not take effect twice. */
export interface Request {
  /** Whose keys: the account and the family of endpoints that share them, at most 128 characters. */
  readonly scope: string
  readonly key: IdempotencyKey
  readonly fingerprint: Fingerprint
  /** When it arrived. */
  readonly at: DateTime.Utc
}

/** A request with what it will have made: the id by which a replay finds the first outcome. */
export interface Claim extends Request {
  /** At most 128 characters. */
  readonly reference: string
}

/**
 * What is known of a request before anything is done for it.
 *
 * - `None`: nothing; it may go on to claim.
 * - `Replay`: an earlier one was accepted as `reference`.
 * - `Reused`: the key belongs to a request with another body.
 */
export type Found = Data.TaggedEnum<{
  None: {}
  Replay: { readonly reference: string }
  Reused: {}
}>

/** See the type of the same name. */
export const Found = Data.taggedEnum<Found>()

/**
 * What became of a claim.
 *
 * - `Claimed`: do the work, or `release` it in the same unit.
 * - `Replay`, `Reused`: as in `Found`. A request whose key an earlier one of the
 *   same set claims with another body is `Reused` whatever becomes of that one:
 *   the client did send two bodies under one key.
 * - `Follower`: the same request is earlier in the same set, at index `leader`,
 *   and `Claimed`. Its outcome is the leader's: a replay of it when it is
 *   accepted, the same refusal when it is not. Do not release a follower.
 */
export type Outcome = Data.TaggedEnum<{
  Claimed: {}
  Replay: { readonly reference: string }
  Reused: {}
  Follower: { readonly leader: number }
}>

/** See the type of the same name. */
export const Outcome = Data.taggedEnum<Outcome>()

/** How long claims hold, from the first acceptance. A claim is over at exactly its end. */
export interface Windows {
  /** Default 24 hours. */
  readonly explicit?: Duration.Input | undefined
  /** Default 120 seconds. */
  readonly implicit?: Duration.Input | undefined
}

/** What names a claim in a store: two requests with equal slots are repetitions or reuses. */
export interface Slot {
  readonly scope: string
  readonly identity: string
}

/** A claim as a store keeps it. */
export interface Held extends Slot {
  readonly fingerprint: Fingerprint
  readonly reference: string
  readonly expiresAt: DateTime.Utc
}

/** The slot of a request. The first letters keep the two kinds of keys apart. */
export const slotOf = ({ fingerprint, key, scope }: Request): Slot => ({
  scope,
  identity: key._tag === "Explicit" ? `key:${key.text}` : `body:${fingerprint}:${key.endpoint}`
})

/** Text that is equal for equal slots only. */
export const slotText = ({ identity, scope }: Slot): string => `${scope.length}:${scope}${identity}`

/** The claim that a store is to keep. */
export const holdOf = (claim: Claim, windows: Windows): Held => ({
  ...slotOf(claim),
  fingerprint: claim.fingerprint,
  reference: claim.reference,
  expiresAt: DateTime.addDuration(
    claim.at,
    claim.key._tag === "Explicit" ? windows.explicit ?? "24 hours" : windows.implicit ?? "120 seconds"
  )
})

/** Whether a kept claim still holds. */
export const holds = (held: Held, at: DateTime.Utc): boolean => DateTime.isLessThan(at, held.expiresAt)

/** What a request finds, given the claim in its slot. */
export const find = (request: Request, held: Held | undefined): Found => {
  if (held === undefined || !holds(held, request.at)) return Found.None()
  return held.fingerprint === request.fingerprint ? Found.Replay({ reference: held.reference }) : Found.Reused()
}

/** For each request, the index of the first one of the set in the same slot: its own index if it leads. */
export const leadersOf = (requests: ReadonlyArray<Request>): ReadonlyArray<number> => {
  const first = new Map<string, number>()
  return requests.map((request, index) => {
    const slot = slotText(slotOf(request))
    const leader = first.get(slot)
    if (leader === undefined) first.set(slot, index)
    return leader ?? index
  })
}

/**
 * What becomes of each claim of a set, in its order. `held` are the claims that
 * stood in the way; a slot without one now belongs to its first claim in the set.
 */
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

/** Whether `next` may take the place of the claim in its slot: nobody else's, and ending later. */
export const mayExtend = (held: Held | undefined, next: Held, at: DateTime.Utc): boolean => {
  if (held === undefined || !holds(held, at)) return true
  return held.reference === next.reference && DateTime.isLessThan(held.expiresAt, next.expiresAt)
}
