/** The port of the storage of payments. `Payments` decides; a store loads and writes. */
import type { StorageError } from "@kinora/persistence"
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { Payment, PaymentId, PaymentQuery, PaymentStatus } from "./Payment.ts"

/** The end of a payment. */
export interface Settlement {
  readonly status: Exclude<PaymentStatus, "open">
  readonly isCredited: boolean
  readonly settledAt: DateTime.Utc
  /** The provider's id of the checkout, if it is known. */
  readonly providerReference: Option.Option<string>
}

/** Which open payments to read at the provider. */
export interface DueQuery {
  readonly provider: string
  readonly limit: number
}

/** Stores payments. */
export class PaymentStore extends Context.Service<PaymentStore, {
  /** Locks the set of payments of an account until the unit ends, so that none is opened meanwhile. */
  readonly lockAccount: (account: string) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the number of open payments of an account. */
  readonly countOpen: (account: string) => Effect.Effect<number, StorageError.StorageError>

  /** Inserts a payment that is due for the first time after the first pause, by the clock of the storage. */
  readonly insert: (payment: Payment) => Effect.Effect<void, StorageError.StorageError>

  readonly find: (id: PaymentId) => Effect.Effect<Option.Option<Payment>, StorageError.StorageError>

  /** Locks the payment until the unit ends, then returns it. */
  readonly lock: (id: PaymentId) => Effect.Effect<Option.Option<Payment>, StorageError.StorageError>

  /** Saves the provider's id of the checkout, and the time until which the customer can pay. */
  readonly saveCheckout: (
    id: PaymentId,
    checkout: { readonly reference: string; readonly expiresAt: DateTime.Utc }
  ) => Effect.Effect<void, StorageError.StorageError>

  /** Ends a locked payment. */
  readonly settle: (id: PaymentId, settlement: Settlement) => Effect.Effect<void, StorageError.StorageError>

  /** Returns the payments of an account, newest first. */
  readonly list: (query: PaymentQuery) => Effect.Effect<ReadonlyArray<Payment>, StorageError.StorageError>

  /**
   * Returns open payments that are due, the longest due first, and makes each due again after a pause that doubles with
   * each call, from 10 minutes to 6 hours, by the clock of the storage. Skips payments that another unit has locked.
   */
  readonly claimDue: (query: DueQuery) => Effect.Effect<ReadonlyArray<Payment>, StorageError.StorageError>

  /** Deletes payments that ended before `before`, the first ended first, and returns their number. Skips locked ones. */
  readonly deleteSettled: (before: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError.StorageError>
}>()("@kinora/payments/PaymentStore") {}

/** The pauses between two reads of a payment at the provider, in minutes. */
export const pauseMinutes = { first: 10, max: 360 }
