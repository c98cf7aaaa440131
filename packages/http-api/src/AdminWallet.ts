/** Balances in the admin API. */
import { Schema } from "effect"
import { field, int, list, nullable, object, text, time } from "./internal/fields.ts"
import { Int64 } from "./Scalar.ts"

/** The operator's name for an operation that happens once: 1 to 128 printable ASCII characters. */
export const Reference = Schema.String.check(
  Schema.isPattern(/^[\x20-\x7e]{1,128}$/, { expected: "1 to 128 printable ASCII characters" })
)

/** The maximum of one deposit or debit in US cents: ten million dollars. */
export const amountCentsMax = 1_000_000_000

const amount = field(
  Int64.check(Schema.isBetween({ minimum: 1, maximum: amountCentsMax })),
  "The amount in US cents."
)

/** Adds to the balance of an account. */
export const DepositRequest = object("DepositRequest", "The deposit to make.", {
  reference: field(Reference, "Names the deposit. Repeating the same deposit adds nothing."),
  usd_cents: amount
})
/** See the schema of the same name. */
export type DepositRequest = typeof DepositRequest.Type

/** A deposit. */
export const AdminDeposit = object("AdminDeposit", "A deposit.", {
  reference: text("The reference of the request."),
  usd_cents: int("The amount in US cents."),
  balance_usd_cents: int("The balance right after this deposit, in US cents."),
  created_at: time("When the deposit was made.")
})
/** See the schema of the same name. */
export type AdminDeposit = typeof AdminDeposit.Type

/** Takes from the balance of an account. */
export const DebitRequest = object("DebitRequest", "The debit to make.", {
  reference: field(Reference, "Names the debit. Repeating the same debit takes nothing."),
  usd_cents: amount
})
/** See the schema of the same name. */
export type DebitRequest = typeof DebitRequest.Type

/** A debit. */
export const AdminDebit = object("AdminDebit", "A debit.", {
  reference: text("The reference of the request."),
  usd_cents: int("The amount in US cents."),
  balance_usd_cents: int("The balance right after this debit, in US cents."),
  created_at: time("When the debit was made.")
})
/** See the schema of the same name. */
export type AdminDebit = typeof AdminDebit.Type

/** The kinds of changes of a balance. */
export const MovementKind = Schema.Literals(["deposit", "debit", "subscription", "upgrade", "renewal"])

/** A change of the balance. */
export const AdminMovement = object("AdminMovement", "A change of the balance of an account.", {
  kind: field(
    MovementKind,
    "A `deposit` or a `debit`, or the payment of a plan: its first period (`subscription`), a higher tier for the " +
      "rest of a period (`upgrade`), or another period (`renewal`)."
  ),
  reference: text("The reference of the deposit or debit, or the plan and the end of the paid period."),
  usd_cents: int("The amount in US cents, negative for all but deposits."),
  balance_usd_cents: int("The balance right after it, in US cents."),
  created_at: time("When it was booked.")
})
/** See the schema of the same name. */
export type AdminMovement = typeof AdminMovement.Type

/** A page of the changes of a balance. */
export const AdminMovementList = object("AdminMovementList", "A page of the changes of a balance.", {
  data: list(AdminMovement, "The changes, newest first."),
  next_cursor: nullable(Schema.String, "The `cursor` of the next page; `null` on the last page.")
})
