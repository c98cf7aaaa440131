/** The commands of `Keys`, and what they change. */
import type { Duration } from "effect"
import type { KeyId, Metadata } from "./ApiKey.ts"
import type { KeyTerms } from "./KeyTerms.ts"

/** A key to create. */
export interface KeyOptions {
  readonly owner: string
  /** At most 100 characters. */
  readonly name: string
  /** Terms that are omitted restrict nothing. */
  readonly terms?: Partial<KeyTerms> | undefined
  /** Default: an empty object. */
  readonly metadata?: Metadata | undefined
  /** The author, who is recorded. Default: `null`. */
  readonly createdBy?: string | null | undefined
}

/** A key to roll. */
export interface RollOptions {
  readonly owner: string
  readonly id: KeyId
  /** How long the former key stays active. */
  readonly overlap: Duration.Input
  /** The author of the new key. Default: `null`. */
  readonly createdBy?: string | null | undefined
}

/** A key that changed, or all keys of an owner. */
export type Changed = { readonly id: KeyId } | { readonly owner: string }
