/** The records of keys of accounts, and those of `@kinora/api-keys`. The models of the terms are metadata there. */
import type * as ApiKeys from "@kinora/api-keys/ApiKey"
import * as Terms from "@kinora/api-keys/KeyTerms"
import { Option, Schema } from "effect"
import type { AccountId } from "../Account.ts"
import type { ApiKey } from "../ApiKey.ts"
import type { LineBudget } from "../KeyBudget.ts"
import { type KeyTerms, Scope, unrestricted } from "../KeyTerms.ts"

/** Returns the record of a key of an account. */
export const toRecord = (
  account: AccountId,
  { metadata, owner: _, terms, ...key }: ApiKeys.ApiKey,
  { budget, budgetMax }: LineBudget
): ApiKey => ({ ...key, account, terms: termsOf({ metadata, terms }), budget, budgetMax })

/** Returns the terms of a key. */
export const termsOf = ({ metadata, terms }: Pick<ApiKeys.ApiKey, "metadata" | "terms">): KeyTerms =>
  withModels(terms, decodeMetadata(metadata).models)

/** Returns the metadata of a key with these terms. */
export const metadataOf = ({ models }: KeyTerms): ApiKeys.Metadata =>
  Option.isSome(models) ? { models: models.value } : {}

/** Returns terms with models. */
export const withModels = (terms: Terms.KeyTerms, models: ReadonlyArray<string> | undefined): KeyTerms =>
  terms === Terms.unrestricted && models === undefined ? unrestricted : {
    ...terms,
    // A scope that a later build added allows no request of this build.
    scopes: Option.map(terms.scopes, (scopes) => scopes.filter(isScope)),
    models: Option.fromUndefinedOr(models)
  }

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isScope = Schema.is(Scope)

const decodeMetadata = Schema.decodeUnknownSync(Schema.Struct({
  models: Schema.optionalKey(Schema.Array(Schema.String))
}))
