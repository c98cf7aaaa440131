/** Accounts, their keys, plans and balances, as operators see them. */
import { Schema, SchemaTransformation } from "effect"
import { DateTime, Int64 } from "./Scalar.ts"

/** A moment that an operator names: RFC 3339 in UTC, to the millisecond at most (D4). */
export const Time = Schema.String.check(
  Schema.makeFilter(isTime, { expected: "a time such as 2027-01-31T00:00:00Z" })
).annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.dateTimeUtcFromString)
)

/** An operator's name for something that is to happen once: 1 to 128 printable ASCII characters. */
export const Reference = Schema.String.check(
  Schema.isPattern(/^[\x20-\x7e]{1,128}$/, { expected: "1 to 128 printable ASCII characters" })
)

/** The most US cents that one deposit can be: ten million dollars. */
export const depositCentsMax = 1_000_000_000

/** The tiers of the Studio group. */
export const StudioTier = Schema.Literals(["starter", "pro", "scale"])
/** The tiers of the Credits group. */
export const CreditsTier = Schema.Literals(["starter", "pro", "business"])

const planOf = <Tier extends Schema.Codec<string>>(identifier: string, tier: Tier) =>
  Schema.Struct({
    tier,
    /** The plan counts until this moment, not at it. It may have passed. */
    period_end: DateTime,
    auto_renew: Schema.Boolean
  }).annotate({ identifier })

const planRequestOf = <Tier extends Schema.Codec<string>>(identifier: string, tier: Tier) =>
  Schema.Struct({
    tier,
    period_end: Time,
    /** Default false. */
    auto_renew: Schema.optionalKey(Schema.Boolean)
  }).annotate({ identifier })

/** A Studio plan as it was set. */
export const AdminStudioPlan = planOf("AdminStudioPlan", StudioTier)
/** A Credits plan as it was set. */
export const AdminCreditsPlan = planOf("AdminCreditsPlan", CreditsTier)

/** Sets the Studio plan of an account. */
export const SetStudioPlanRequest = planRequestOf("SetStudioPlanRequest", StudioTier)
/** See the schema of the same name. */
export type SetStudioPlanRequest = typeof SetStudioPlanRequest.Type

/** Sets the Credits plan of an account. Its first credits come by a lot, those of later periods with the renewal. */
export const SetCreditsPlanRequest = planRequestOf("SetCreditsPlanRequest", CreditsTier)
/** See the schema of the same name. */
export type SetCreditsPlanRequest = typeof SetCreditsPlanRequest.Type

/** An account. */
export const AdminAccount = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  /** A `suspended` account's requests are refused with 403 `account_suspended`. */
  status: Schema.Literals(["active", "suspended"]),
  created_at: DateTime,
  /** What plans with `auto_renew` are paid from (D25). */
  balance_usd_cents: Int64,
  plans: Schema.Struct({
    studio: Schema.NullOr(AdminStudioPlan),
    credits: Schema.NullOr(AdminCreditsPlan)
  })
}).annotate({ identifier: "AdminAccount" })
/** See the schema of the same name. */
export type AdminAccount = typeof AdminAccount.Type

/** Makes an account. */
export const CreateAccountRequest = Schema.Struct({
  /** At most 254 characters; unique, whatever its letter case. */
  email: Schema.String.check(Schema.isBetweenLength(1, 254))
}).annotate({ identifier: "CreateAccountRequest" })
/** See the schema of the same name. */
export type CreateAccountRequest = typeof CreateAccountRequest.Type

/** Adds to the balance of an account. */
export const DepositRequest = Schema.Struct({
  /** Names the deposit: repeated as it was, it adds nothing. */
  reference: Reference,
  /** 1 to 1 000 000 000. */
  usd_cents: Int64.check(Schema.isBetween({ minimum: 1, maximum: depositCentsMax }))
}).annotate({ identifier: "DepositRequest" })
/** See the schema of the same name. */
export type DepositRequest = typeof DepositRequest.Type

/** What was added to a balance, once for its reference. */
export const AdminDeposit = Schema.Struct({
  reference: Schema.String,
  usd_cents: Int64,
  /** The balance right after this deposit. */
  balance_usd_cents: Int64,
  created_at: DateTime
}).annotate({ identifier: "AdminDeposit" })
/** See the schema of the same name. */
export type AdminDeposit = typeof AdminDeposit.Type

/** Makes an API key. */
export const CreateKeyRequest = Schema.Struct({
  /** For people: not blank, no control characters, at most 100 characters. */
  name: Schema.String.check(Schema.isBetweenLength(1, 100))
}).annotate({ identifier: "CreateKeyRequest" })
/** See the schema of the same name. */
export type CreateKeyRequest = typeof CreateKeyRequest.Type

/** A key that was just made. */
export const AdminNewKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  /** The first 12 characters of the key, by which it is recognised later. */
  prefix: Schema.String,
  /** The key itself, which is shown this once. */
  key: Schema.String,
  created_at: DateTime
}).annotate({ identifier: "AdminNewKey" })

/** What is kept of a key. */
export const AdminKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  created_at: DateTime,
  /** Exact to a minute (D3). */
  last_used_at: Schema.NullOr(DateTime),
  revoked_at: Schema.NullOr(DateTime)
}).annotate({ identifier: "AdminKey" })

/** The keys of an account: those in use, then revoked ones, newest first. */
export const AdminKeyList = Schema.Struct({ data: Schema.Array(AdminKey) }).annotate({ identifier: "AdminKeyList" })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Also a day of the calendar, which has no year 0: 31 February would be read as some day of March. */
function isTime(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/.test(text)) return false
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, "YYYY-MM-DDTHH:MM:SS".length))
}
