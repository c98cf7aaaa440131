/** Errors of `Payments`. */
import * as Rejection from "@kinora/persistence/Rejection"
import { Schema } from "effect"
import { PaymentId } from "./Payment.ts"
import { PaymentsDisabled, ProviderRejected, ProviderUnavailable } from "./PaymentProvider.ts"

/** No payment has this id. */
export class PaymentNotFound extends Schema.TaggedError<PaymentNotFound>("@kinora/payments/PaymentNotFound")(
  "PaymentNotFound",
  { payment: PaymentId.schema }
) {}

/** The amount is not a whole number of US cents from `centsMin` to `centsMax`. */
export class PaymentAmountInvalid
  extends Schema.TaggedError<PaymentAmountInvalid>("@kinora/payments/PaymentAmountInvalid")(
    "PaymentAmountInvalid",
    { centsMin: Schema.Int, centsMax: Schema.Int }
  )
{}

/** The account has the maximum number of open payments. One has to be paid, or expire, first. */
export class TooManyPayments extends Schema.TaggedError<TooManyPayments>("@kinora/payments/TooManyPayments")(
  "TooManyPayments",
  { openMax: Schema.Int }
) {}

/** Reason of a `PaymentsError`. */
export const PaymentsErrorReason = Schema.Union([
  PaymentNotFound,
  PaymentAmountInvalid,
  TooManyPayments,
  PaymentsDisabled,
  ProviderRejected,
  ProviderUnavailable
])
/** Type of `PaymentsErrorReason`. */
export type PaymentsErrorReason = typeof PaymentsErrorReason.Type

/** The error of a rejected command. Nobody can pay by it. */
export class PaymentsError extends Rejection.define<PaymentsError>("@kinora/payments/PaymentsError")(
  "PaymentsError",
  "Payments",
  PaymentsErrorReason
) {}
