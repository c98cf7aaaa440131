/** Accounts and API keys in the admin API. */
import { Result, Schema } from "effect"
import { IpInterface } from "effect/net"
import { AdminCreditsPlan, AdminStudioPlan } from "./AdminPlan.ts"
import { field, int, list, nullable, object, optional, requestTime, text, time } from "./internal/fields.ts"
import { keyUse } from "./internal/keyUse.ts"
import { overlapRequest } from "./internal/overlapRequest.ts"
import { page } from "./internal/pages.ts"
import { KeyScope } from "./RequestPolicy.ts"
import { DateTime, Int64 } from "./Scalar.ts"

/** The status of an account. */
export const AccountStatus = Schema.Literals(["active", "suspended", "deleted", "erased"])

/** An account. */
export const AdminAccount = object("AdminAccount", "An account.", {
  id: text("The id of the account, `acct_…`."),
  email: text("The e-mail address."),
  status: field(
    AccountStatus,
    "Requests of `suspended` accounts are rejected with 403 `account_suspended`. `deleted` accounts have no keys, and can " +
      "be restored until they are `erased`."
  ),
  created_at: time("When the account was created."),
  deleted_at: nullable(DateTime, "When the account was deleted."),
  balance_usd_cents: int("The balance in US cents, from which plans with `auto_renew` renew."),
  plans: field(
    Schema.Struct({
      studio: nullable(AdminStudioPlan, "The Studio plan."),
      credits: nullable(AdminCreditsPlan, "The Credits plan.")
    }),
    "The plans, at most one of each group."
  )
})
/** See the schema of the same name. */
export type AdminAccount = typeof AdminAccount.Type

/** A page of accounts. */
export const AdminAccountList = page("AdminAccountList", AdminAccount, "accounts, newest first")

const email = field(
  Schema.String.check(Schema.isBetweenLength(1, 254)),
  "The e-mail address: at most 254 characters, unique irrespective of case."
)

/** Changes an account. */
export const UpdateAccountRequest = object("UpdateAccountRequest", "The change of the account.", { email })

/** Creates an account. */
export const CreateAccountRequest = object("CreateAccountRequest", "The account to create.", {
  email
})

/** An IPv4 or IPv6 address, or a network in CIDR notation. */
const IpRange = Schema.String.check(
  Schema.makeFilter((text) => Result.isSuccess(IpInterface.fromString(text, { prefix: "optional" })), {
    expected: "an address or a network such as 192.0.2.0/24"
  })
)

/** The maximum value of a limit of a budget: 10^12. */
export const budgetLimitMax = 1_000_000_000_000

const budgetLimit = (description: string) =>
  optional(Schema.NullOr(Int64.check(Schema.isBetween({ minimum: 0, maximum: budgetLimitMax }))), description)

/** Limits of a budget to set. */
export const KeyBudgetRequest = object("KeyBudgetRequest", "Limits of an API key. `null` does not limit.", {
  credits_per_day: budgetLimit("Credits that jobs can cost per UTC day."),
  credits_per_month: budgetLimit("Credits that jobs can cost per UTC month."),
  jobs_per_day: budgetLimit("Jobs per UTC day."),
  jobs_per_month: budgetLimit("Jobs per UTC month.")
})
/** See the schema of the same name. */
export type KeyBudgetRequest = typeof KeyBudgetRequest.Type

const KeyName = Schema.String.check(Schema.isBetweenLength(1, 100))
const keyName = "A name for people: at most 100 characters, not blank, no control characters."

/** Creates an API key. */
export const CreateKeyRequest = object("CreateKeyRequest", "The API key to create.", {
  name: field(KeyName, keyName),
  expires_at: optional(requestTime("When the key expires. Default: never."), "When the key expires. Default: never."),
  scopes: optional(
    Schema.NonEmptyArray(KeyScope).check(Schema.isMaxLength(KeyScope.literals.length)),
    "The only requests that the key allows. Default: all."
  ),
  models: optional(
    Schema.NonEmptyArray(Schema.String.check(Schema.isBetweenLength(1, 128))).check(Schema.isMaxLength(100)),
    "Ids of the only models with which the key creates jobs. Default: all."
  ),
  ip_ranges: optional(
    Schema.NonEmptyArray(IpRange).check(Schema.isMaxLength(100)),
    "The only addresses and networks of clients that can use the key. Default: all."
  ),
  budget: optional(KeyBudgetRequest, "What jobs of the key can cost. Default: no limits.")
})
/** See the schema of the same name. */
export type CreateKeyRequest = typeof CreateKeyRequest.Type

/** Changes an API key. */
export const UpdateKeyRequest = Schema.Struct({
  name: optional(KeyName, keyName),
  budget: optional(KeyBudgetRequest, "The limits to change. Absent ones stay as they are.")
}).check(Schema.isMinProperties(1)).annotate({
  identifier: "UpdateKeyRequest",
  description: "The change of the API key: at least one property."
})
/** See the schema of the same name. */
export type UpdateKeyRequest = typeof UpdateKeyRequest.Type

/** The maximum time for which a rolled key stays valid, in seconds: 30 days. */
export const rollOverlapSecondsMax = 30 * 86_400

/** Rolls an API key. */
export const RollKeyRequest = overlapRequest(
  "RollKeyRequest",
  "How to roll an API key.",
  rollOverlapSecondsMax,
  "How long the former key stays valid, in seconds. Default: 86400."
)

const keyTerms = {
  expires_at: nullable(DateTime, "When the key expires; `null`: never."),
  scopes: nullable(Schema.Array(KeyScope), "The only requests that the key allows; `null`: all."),
  models: nullable(Schema.Array(Schema.String), "Ids of the only models of its jobs; `null`: all."),
  ip_ranges: nullable(Schema.Array(Schema.String), "The networks of the only clients that can use it; `null`: all.")
}

const Budget = Schema.Struct({
  credits_per_day: nullable(Int64, "Credits per UTC day."),
  credits_per_month: nullable(Int64, "Credits per UTC month."),
  jobs_per_day: nullable(Int64, "Jobs per UTC day."),
  jobs_per_month: nullable(Int64, "Jobs per UTC month.")
})

const budgets = {
  budget: field(Budget, "The limits of the key and of those that it replaced; each `null` if there is none."),
  budget_max: field(
    Budget,
    "The limits that an operator has set, which members cannot exceed or remove; each `null` if there is none."
  )
}

const key = {
  id: text("The id of the key, `key_…`."),
  name: text("The name of the key."),
  prefix: text("The first 12 characters of the key.")
}

const createdBy = nullable(
  Schema.String,
  "The id of the member or of the operator who created the key; `null` with a sign-in link of the account, and for keys " +
    "that were created before this was recorded."
)

/** A new API key. */
export const AdminNewKey = object("AdminNewKey", "A new API key.", {
  ...key,
  key: text("The key. Only this response contains it."),
  ...keyTerms,
  ...budgets,
  created_at: time("When the key was created."),
  created_by: createdBy
})

/** An API key, without the key itself. */
export const AdminKey = object("AdminKey", "An API key, without the key itself.", {
  ...key,
  ...keyTerms,
  ...budgets,
  used: nullable(
    Schema.Struct({ day: keyUse("Today, in UTC."), month: keyUse("In this month, in UTC.") }),
    "What is used of the budget; `null` for a key without limits."
  ),
  created_at: time("When the key was created."),
  created_by: createdBy,
  last_used_at: nullable(DateTime, "When the key was last used, to the minute."),
  revoked_at: nullable(DateTime, "When the key was revoked.")
})

/** The API keys of an account. */
export const AdminKeyList = object("AdminKeyList", "The API keys of an account.", {
  data: list(AdminKey, "The keys in use, then the revoked and expired ones, newest first.")
})
