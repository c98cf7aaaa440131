/** Requests, claims, and their outcomes. */
import { Data, type Duration } from "effect"
import type { Fingerprint } from "./Fingerprint.ts"
import type { IdempotencyKey } from "./IdempotencyKey.ts"

/** A request that must not take effect twice. */
export interface Request {
  /** Namespace of the keys, such as the account and the family of endpoints that share them. At most 128 characters. */
  readonly scope: string
  readonly key: IdempotencyKey
  readonly fingerprint: Fingerprint
}

/** A request, and the id of what it creates. A replay returns this id. */
export interface Claim extends Request {
  /** At most 128 characters. */
  readonly reference: string
  /** How long the claim holds. Default: that of `Windows`. */
  readonly window?: Duration.Input | undefined
}

/**
 * Result of looking up a request.
 *
 * - `None`: no claim holds. The request may claim its key.
 * - `Replay`: an earlier request was accepted as `reference`.
 * - `Reused`: the key belongs to a request with another body.
 */
export type Found = Data.TaggedEnum<{
  None: {}
  Replay: { readonly reference: string }
  Reused: {}
}>

/** Constructors and matchers of `Found`. */
export const Found = Data.taggedEnum<Found>()

/**
 * Result of a claim.
 *
 * - `Claimed`: do the work, or `release` the claim in the same unit of work.
 * - `Replay`, `Reused`: as in `Found`. A claim is also `Reused` if an earlier claim of the
 *   set has the same key and another body, even if that one is released later.
 * - `Follower`: the claim at index `leader` of the set is the same request and is
 *   `Claimed`. Give the follower the outcome of its leader. Do not release a follower.
 */
export type Outcome = Data.TaggedEnum<{
  Claimed: {}
  Replay: { readonly reference: string }
  Reused: {}
  Follower: { readonly leader: number }
}>

/** Constructors and matchers of `Outcome`. */
export const Outcome = Data.taggedEnum<Outcome>()

/** How long claims hold, by the clock of the storage. A claim no longer holds at exactly the end of its window. */
export interface Windows {
  /** For requests with a key. Default 24 hours. */
  readonly explicit?: Duration.Input | undefined
  /** For requests without a key. Default 120 seconds. */
  readonly implicit?: Duration.Input | undefined
}
