/** Payments and their states. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, type Option, Schema } from "effect"

/** Codec and constructors of the ids of payments, `pay_…`. */
export const PaymentId = TypeId.define("pay", "PaymentId")
/** Type of `PaymentId`. */
export type PaymentId = TypeId.Id<"PaymentId">

/**
 * Status of a payment. `open`: the customer can pay, or the provider still collects the money. `paid`: the provider has
 * the money. `expired`: the customer did not pay in time. `failed`: the checkout was not opened, or collecting failed.
 */
export const PaymentStatus = Schema.Literals(["open", "paid", "expired", "failed"])
/** Type of `PaymentStatus`. */
export type PaymentStatus = typeof PaymentStatus.Type

/** A payment of an account. */
export interface Payment {
  readonly id: PaymentId
  /** The account that pays: an id of the embedding service, 1 to 256 characters. */
  readonly account: string
  /** In US cents. */
  readonly cents: number
  /** Name of the provider that collects the money, such as `stripe`. */
  readonly provider: string
  /** The provider's id of the checkout. `None`: the checkout is not known to be open. */
  readonly providerReference: Option.Option<string>
  readonly status: PaymentStatus
  /** Whether the host has credited the amount. A `paid` payment that is not credited has to be refunded at the provider. */
  readonly isCredited: boolean
  readonly createdAt: DateTime.Utc
  /** Time until which the customer can pay. `None`: the checkout is not known to be open. */
  readonly expiresAt: Option.Option<DateTime.Utc>
  /** When the payment got its status. `None`: it is open. */
  readonly settledAt: Option.Option<DateTime.Utc>
}

/** Which payments to list. */
export interface PaymentQuery {
  readonly account: string
  /** Continues after this payment, the last one of the page before. */
  readonly after?: PaymentId | undefined
  readonly limit: number
}
