/** Balances in the admin API. */
import { Schema } from "effect"
import { field, flag, int, nullable, object, text, time } from "./internal/fields.ts"
import { page } from "./internal/pages.ts"
import { DateTime, Int64 } from "./Scalar.ts"

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

const requestOf = (identifier: string, noun: string, repeated: string) =>
  object(identifier, `The ${noun} to make.`, {
    reference: field(Reference, `Names the ${noun}. Repeating the same ${noun} ${repeated}.`),
    usd_cents: amount
  })

const changeOf = (identifier: string, noun: string) =>
  object(identifier, `A ${noun}.`, {
    reference: text("The reference of the request."),
    usd_cents: int("The amount in US cents."),
    balance_usd_cents: int(`The balance right after this ${noun}, in US cents.`),
    created_at: time(`When the ${noun} was made.`)
  })

/** Adds to the balance of an account. */
export const DepositRequest = requestOf("DepositRequest", "deposit", "adds nothing")
/** See the schema of the same name. */
export type DepositRequest = typeof DepositRequest.Type

/** A deposit. */
export const AdminDeposit = changeOf("AdminDeposit", "deposit")
/** See the schema of the same name. */
export type AdminDeposit = typeof AdminDeposit.Type

/** Takes from the balance of an account. */
export const DebitRequest = requestOf("DebitRequest", "debit", "takes nothing")

/** A debit. */
export const AdminDebit = changeOf("AdminDebit", "debit")

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
export const AdminMovementList = page("AdminMovementList", AdminMovement, "the changes of a balance, newest first")

/** An address to which a customer returns. */
const ReturnUrl = Schema.String.check(
  Schema.isPattern(/^https?:\/\/[\x21-\x7e]{1,2000}$/, { expected: "an http or https URL of at most 2000 characters" })
)

/** Opens a checkout. */
export const CheckoutRequest = object("CheckoutRequest", "The checkout to open.", {
  amount_usd_cents: field(Int64, "The amount in US cents, by default from 100 to 1,000,000."),
  success_url: field(ReturnUrl, "The URL to which the customer returns after the payment."),
  cancel_url: field(ReturnUrl, "The URL to which the customer returns without a payment.")
})
/** See the schema of the same name. */
export type CheckoutRequest = typeof CheckoutRequest.Type

const payment = {
  id: text("The id of the payment, `pay_…`."),
  status: field(
    Schema.Literals(["open", "paid", "expired", "failed"]),
    "`open` until the payment is `paid`, has `expired`, or has `failed`."
  ),
  amount_usd_cents: int("The amount in US cents."),
  credited: flag(
    "Whether the balance got the amount. A `paid` payment that is not credited has to be refunded at the provider."
  ),
  provider: text("The payment provider: `stripe`."),
  provider_reference: nullable(
    Schema.String,
    "The id of the checkout at the provider, such as `cs_…`; `null` if none was opened."
  ),
  created_at: time("When the checkout was opened."),
  expires_at: nullable(DateTime, "Until when the customer can pay; `null` if no checkout was opened."),
  settled_at: nullable(DateTime, "When the payment got its status; `null` while it is open.")
}

/** A payment by a checkout. */
export const AdminPayment = object("AdminPayment", "A payment by a checkout.", payment)
/** See the schema of the same name. */
export type AdminPayment = typeof AdminPayment.Type

/** An open checkout. */
export const AdminCheckout = object("AdminCheckout", "An open checkout.", {
  ...payment,
  url: text("The page on which the customer pays. It is not returned again.")
})

/** A page of the payments of an account. */
export const AdminPaymentList = page("AdminPaymentList", AdminPayment, "the payments of an account, newest first")
