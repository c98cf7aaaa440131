/** Errors of `Accounts`. */
import { KeyEnded, KeyNotFound, TooManyKeys } from "@kinora/api-keys/ApiKeysError"
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import { AccountId } from "./Account.ts"
import { PlanGroup } from "./Plan.ts"

export { KeyEnded, KeyNotFound, TooManyKeys }

/** No account has this id. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>("@kinora/accounts/AccountNotFound")(
  "AccountNotFound",
  { account: AccountId.schema }
) {}

/** The account is deleted. It can be restored until it is `erased`. */
export class AccountDeleted extends Schema.TaggedError<AccountDeleted>("@kinora/accounts/AccountDeleted")(
  "AccountDeleted",
  { account: AccountId.schema, erased: Schema.Boolean }
) {}

/** Another account has this email address. */
export class EmailTaken extends Schema.TaggedError<EmailTaken>("@kinora/accounts/EmailTaken")(
  "EmailTaken",
  { email: Schema.String }
) {}

/** The text is not an email address. */
export class EmailInvalid extends Schema.TaggedError<EmailInvalid>("@kinora/accounts/EmailInvalid")(
  "EmailInvalid",
  {}
) {}

/** The name of a key is blank, too long, or contains control characters. */
export class KeyNameInvalid extends Schema.TaggedError<KeyNameInvalid>("@kinora/accounts/KeyNameInvalid")(
  "KeyNameInvalid",
  { charsMax: Schema.Int }
) {}

/** The terms of a key restrict it to nothing, have too many models or networks, or end in the past. */
export class KeyTermsInvalid extends Schema.TaggedError<KeyTermsInvalid>("@kinora/accounts/KeyTermsInvalid")(
  "KeyTermsInvalid",
  { problem: Schema.String }
) {}

/** A limit of a budget is not a whole number from 0 to `KeyBudget.limitMax`. */
export class KeyBudgetInvalid extends Schema.TaggedError<KeyBudgetInvalid>("@kinora/accounts/KeyBudgetInvalid")(
  "KeyBudgetInvalid",
  { problem: Schema.String }
) {}

/** A member cannot exceed or remove the limit of a budget that an operator has set. */
export class BudgetFixed extends Schema.TaggedError<BudgetFixed>("@kinora/accounts/BudgetFixed")(
  "BudgetFixed",
  { budget: Schema.Literals(["creditsPerDay", "creditsPerMonth", "jobsPerDay", "jobsPerMonth"]), limit: Schema.Int }
) {}

/** The deposit or debit is not a whole number of US cents from 1 to `centsMax`, or its reference does not have 1 to 128 characters. */
export class AmountInvalid extends Schema.TaggedError<AmountInvalid>("@kinora/accounts/AmountInvalid")(
  "AmountInvalid",
  { centsMax: Schema.Int }
) {}

/** The balance of the account is lower than the amount. */
export class BalanceTooLow extends Schema.TaggedError<BalanceTooLow>("@kinora/accounts/BalanceTooLow")(
  "BalanceTooLow",
  { requiredCents: Schema.Int, availableCents: Schema.Int }
) {}

/** The account has no active plan in the group. */
export class PlanNotActive extends Schema.TaggedError<PlanNotActive>("@kinora/accounts/PlanNotActive")(
  "PlanNotActive",
  { group: PlanGroup }
) {}

/** The account has a deposit, or a debit, with this reference and another amount. */
export class ReferenceReused extends Schema.TaggedError<ReferenceReused>("@kinora/accounts/ReferenceReused")(
  "ReferenceReused",
  { reference: Schema.String }
) {}

/** Reason of an `AccountsError`. */
export const AccountsErrorReason = Schema.Union([
  AccountNotFound,
  AccountDeleted,
  KeyNotFound,
  EmailTaken,
  EmailInvalid,
  KeyNameInvalid,
  KeyTermsInvalid,
  KeyBudgetInvalid,
  BudgetFixed,
  KeyEnded,
  TooManyKeys,
  AmountInvalid,
  BalanceTooLow,
  PlanNotActive,
  ReferenceReused
])
/** Type of `AccountsErrorReason`. */
export type AccountsErrorReason = typeof AccountsErrorReason.Type

/** The error of a rejected command. Nothing was changed. */
export class AccountsError extends Rejection.define<AccountsError>("@kinora/accounts/AccountsError")(
  "AccountsError",
  "Accounts",
  AccountsErrorReason
) {}
