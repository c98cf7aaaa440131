/** Everything that `Accounts` refuses to do. */
import { Schema } from "effect"
import { AccountId } from "./Account.ts"
import { KeyId } from "./ApiKey.ts"

/** There is no account of this id. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>("@kinora/accounts/AccountNotFound")(
  "AccountNotFound",
  { account: AccountId.schema }
) {}

/** The account has no key of this id. */
export class KeyNotFound extends Schema.TaggedError<KeyNotFound>("@kinora/accounts/KeyNotFound")(
  "KeyNotFound",
  { account: AccountId.schema, key: KeyId.schema }
) {}

/** Another account has this e-mail address. */
export class EmailTaken extends Schema.TaggedError<EmailTaken>("@kinora/accounts/EmailTaken")(
  "EmailTaken",
  { email: Schema.String }
) {}

/** The text is not an e-mail address. */
export class EmailInvalid extends Schema.TaggedError<EmailInvalid>("@kinora/accounts/EmailInvalid")(
  "EmailInvalid",
  {}
) {}

/** The text is no name for a key: blank, too long, or with control characters. */
export class KeyNameInvalid extends Schema.TaggedError<KeyNameInvalid>("@kinora/accounts/KeyNameInvalid")(
  "KeyNameInvalid",
  { charsMax: Schema.Int }
) {}

/** The account has as many keys as it may have; revoking one makes room. */
export class TooManyKeys extends Schema.TaggedError<TooManyKeys>("@kinora/accounts/TooManyKeys")(
  "TooManyKeys",
  { account: AccountId.schema, keysMax: Schema.Int }
) {}

/** A deposit is a whole number of US cents from 1 to `centsMax`, with a reference of 1 to 128 characters. */
export class DepositInvalid extends Schema.TaggedError<DepositInvalid>("@kinora/accounts/DepositInvalid")(
  "DepositInvalid",
  { centsMax: Schema.Int }
) {}

/** The account's movement of this reference was another one. */
export class ReferenceReused extends Schema.TaggedError<ReferenceReused>("@kinora/accounts/ReferenceReused")(
  "ReferenceReused",
  { reference: Schema.String }
) {}

/** The rule that was broken. */
export const AccountsErrorReason = Schema.Union([
  AccountNotFound,
  KeyNotFound,
  EmailTaken,
  EmailInvalid,
  KeyNameInvalid,
  TooManyKeys,
  DepositInvalid,
  ReferenceReused
])
/** See the schema of the same name. */
export type AccountsErrorReason = typeof AccountsErrorReason.Type

/** A command to `Accounts` was refused, and nothing was changed. */
export class AccountsError extends Schema.TaggedError<AccountsError>("@kinora/accounts/AccountsError")(
  "AccountsError",
  { reason: AccountsErrorReason }
) {
  override get message(): string {
    return `Refused: ${this.reason._tag}`
  }
}
