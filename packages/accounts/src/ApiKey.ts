/** API keys: secrets of the format of `SecretToken` that begin with `kin_`. */
import { SecretToken, TypeId } from "@kinora/persistence"
import type { DateTime, Option, Redacted } from "effect"
import type { AccountId } from "./Account.ts"
import type { KeyBudget } from "./KeyBudget.ts"
import type { KeyTerms } from "./KeyTerms.ts"

/** Codec and constructors of key ids, `key_…`. */
export const KeyId = TypeId.define("key", "KeyId")
/** Type of `KeyId`. */
export type KeyId = TypeId.Id<"KeyId">

/** The record of a key. The key itself is returned once and not stored. */
export interface ApiKey {
  readonly id: KeyId
  readonly account: AccountId
  readonly name: string
  /** The first 12 characters of the key, for recognition. */
  readonly prefix: string
  readonly terms: KeyTerms
  /** Id of the first key of the line: the key itself, or the one that was rolled first. */
  readonly line: KeyId
  /** The budget of the line. */
  readonly budget: KeyBudget
  /** The limits of the budget that an operator has set. Members can set lower ones. */
  readonly budgetMax: KeyBudget
  readonly createdAt: DateTime.Utc
  /** The id of the author, in the host's terms. `null`: not recorded. */
  readonly createdBy: string | null
  /** Accurate to a minute. */
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  readonly revokedAt: Option.Option<DateTime.Utc>
}

/** A new key. The key itself cannot be read again. */
export interface NewKey {
  readonly record: ApiKey
  readonly key: Redacted.Redacted
}

/** A key whose budget was changed, and its former budget. */
export interface ChangedKey {
  readonly changed: ApiKey
  readonly former: KeyBudget
}

/** Creates keys, checks their format, and hashes them for storage. */
export const { fromRandom, hash, isWellFormed, make, prefix } = SecretToken.define("kin_", "ApiKey")

/** Maximum length of the name of a key, in UTF-16 code units. */
export const nameCharsMax = 100

/** Returns whether `text` is a valid name: not blank, not too long, without control characters. */
export const isName = (text: string): boolean =>
  text.length <= nameCharsMax && text.trim() !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed()
