/** What operators are refused, and how (D40). */
import { Account } from "@kinora/accounts"
import type * as Refused from "@kinora/accounts/AccountsError"
import { conflict } from "@kinora/http-api/AdminError"
import { BadRequest, bodyOf, NotFound } from "@kinora/http-api/ApiError"
import { Effect } from "effect"

/** There is nothing with this id, or it is no id at all (D2). */
export const notFound = Effect.fail(
  new NotFound({ error: bodyOf("not_found", { message: "There is nothing with this id; check the path." }) })
)

/** A field whose text fits its type and is still not good. */
export const invalid = (path: string, message: string) =>
  Effect.fail(new BadRequest({ error: bodyOf("invalid_request", { details: { issues: [{ path, message }] } }) }))

/** The account of this id's text. */
export const accountIdOf = (text: string) => {
  const id = Account.AccountId.parse(text)
  return id === undefined ? notFound : Effect.succeed(id)
}

/** See `AccountNotFound`. */
export const AccountNotFound = () => notFound

/** See `KeyNotFound`. */
export const KeyNotFound = () => notFound

/** See `EmailTaken`. */
export const EmailTaken = () => Effect.fail(conflict("email_taken"))

/** See `EmailInvalid`. */
export const EmailInvalid = () => invalid("email", "must be an e-mail address")

/** See `KeyNameInvalid`. */
export const KeyNameInvalid = ({ charsMax }: Refused.KeyNameInvalid) =>
  invalid("name", `must not be blank, have at most ${charsMax} characters and no control characters`)

/** See `TooManyKeys`. */
export const TooManyKeys = ({ keysMax }: Refused.TooManyKeys) =>
  Effect.fail(conflict("too_many_keys", { keys_max: keysMax }))

/** See `ReferenceReused`. */
export const ReferenceReused = () => Effect.fail(conflict("reference_reused"))

/** A refusal that the use-case cannot give is a bug. */
export const unexpected = (reason: Refused.AccountsErrorReason): Effect.Effect<never> => Effect.die(reason)
