/** The refusals of `@kinora/api-keys` as refusals of accounts. */
import type { ApiKeysErrorReason } from "@kinora/api-keys/ApiKeysError"
import type { Failure } from "@kinora/api-keys/Keys"
import { Effect } from "effect"
import * as AccountsError from "../AccountsError.ts"
import { isName, nameCharsMax } from "../ApiKey.ts"
import { refuse } from "./accountChanges.ts"

/** Fails with the refusals of accounts. Dies if the owner, the author or the metadata of a key is invalid. */
export const translated = <A>(effect: Effect.Effect<A, Failure>) =>
  Effect.catchTag(effect, "ApiKeysError", (error) => {
    const reason = reasonOf(error.reason)
    return reason === undefined ? Effect.die(error) : Effect.fail(refuse(reason))
  })

/** Fails if a text cannot be the name of a key. */
export const validName = (name: string) =>
  isName(name) ? Effect.void : Effect.fail(refuse(new AccountsError.KeyNameInvalid({ charsMax: nameCharsMax })))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const reasonOf = (reason: ApiKeysErrorReason): AccountsError.AccountsErrorReason | undefined => {
  switch (reason._tag) {
    case "KeyNotFound":
    case "KeyEnded":
    case "TooManyKeys":
      return reason
    case "NameInvalid":
      return new AccountsError.KeyNameInvalid({ charsMax: reason.charsMax })
    case "TermsInvalid":
      return new AccountsError.KeyTermsInvalid({ problem: reason.problem })
    case "OwnerInvalid":
    case "MetadataInvalid":
      return undefined
  }
}
