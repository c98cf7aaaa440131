/** API keys of accounts. */
import type * as ApiKeys from "@kinora/api-keys/ApiKey"
import { KeyId } from "@kinora/api-keys/ApiKey"
import type { Redacted } from "effect"
import type { AccountId } from "./Account.ts"
import type { KeyBudget } from "./KeyBudget.ts"
import type { KeyTerms } from "./KeyTerms.ts"

export { isName, nameCharsMax } from "@kinora/api-keys/ApiKey"
export { KeyId }

/** The text that all keys begin with. */
export const prefix = "kin_"

/** The record of a key. The key itself is returned once and not stored. */
export interface ApiKey extends Omit<ApiKeys.ApiKey, "metadata" | "owner" | "terms"> {
  readonly account: AccountId
  readonly terms: KeyTerms
  /** The budget of the line. */
  readonly budget: KeyBudget
  /** The limits of the budget that an operator has set. Members can set lower ones. */
  readonly budgetMax: KeyBudget
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
