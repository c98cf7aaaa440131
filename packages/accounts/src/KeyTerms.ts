/**
 * Restricts what an API key can be used for: until when, for which requests, with which
 * models, and from which addresses.
 */
import * as Terms from "@kinora/api-keys/KeyTerms"
import { type DateTime, Option, Schema } from "effect"

export { hasAddress, hasExpired, networksMax } from "@kinora/api-keys/KeyTerms"

/**
 * A kind of request. `generate`: creates and cancels jobs, and uploads images. `read`: reads
 * jobs, results and models. `account:read`: reads the account and its usage. `webhooks`: manages the webhook endpoints of
 * the account.
 */
export const Scope = Schema.Literals(["generate", "read", "account:read", "webhooks"])
/** Type of `Scope`. */
export type Scope = typeof Scope.Type

/** The terms of a key. `None` restricts nothing. */
export interface KeyTerms extends Terms.KeyTerms {
  /** The only requests that the key allows. */
  readonly scopes: Option.Option<ReadonlyArray<Scope>>
  /** Ids of the only models with which the key creates jobs. */
  readonly models: Option.Option<ReadonlyArray<string>>
}

/** The terms of a key without restrictions. */
export const unrestricted: KeyTerms = {
  ...Terms.unrestricted,
  scopes: Option.none(),
  models: Option.none()
}

/** Maximum number of models of a key. */
export const modelsMax = 100

/** Maximum length of the id of a model, in UTF-16 code units. */
export const modelCharsMax = 128

/** Returns whether the key allows requests of this kind. */
export const hasScope: (terms: KeyTerms, scope: Scope) => boolean = Terms.hasScope

/** Returns whether the key allows jobs of this model. */
export const hasModel = ({ models }: KeyTerms, model: string): boolean =>
  Option.isNone(models) || models.value.includes(model)

/** Returns what is wrong with the terms of a new key, or `undefined`. */
export const problemOf = (terms: KeyTerms, now: DateTime.Utc): string | undefined =>
  Terms.problemOf(terms, now) ??
    (Option.exists(
        terms.models,
        (models) => !(models.length > 0 && models.length <= modelsMax && models.every(isModel))
      )
      ? `The key must have 1 to ${modelsMax} models, whose ids have 1 to ${modelCharsMax} characters.`
      : undefined)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isModel = (id: string): boolean =>
  id !== "" && id.length <= modelCharsMax && !id.includes("\0") && id.isWellFormed()
