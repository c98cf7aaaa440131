/**
 * Customers add to their balance by a checkout at a payment provider.
 *
 * A payment and its deposit commit together, so that each payment is credited once.
 */
import type { Account } from "@kinora/accounts/Account"
import { AccountId } from "@kinora/accounts/Account"
import { Accounts } from "@kinora/accounts/Accounts"
import { AccountDeleted, AccountsError } from "@kinora/accounts/AccountsError"
import type { Payment, PaymentQuery } from "@kinora/payments/Payment"
import type {
  CheckoutOutcome,
  EventUnreadable,
  PaymentsDisabled,
  SignatureRejected
} from "@kinora/payments/PaymentProvider"
import { type Decision, type OpenedPayment, Payments, type ReturnUrls } from "@kinora/payments/Payments"
import type { PaymentsError } from "@kinora/payments/PaymentsError"
import { Sweep } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, Effect, Layer, Option } from "effect"
import { concernsAll } from "./internal/concernsAll.ts"
import * as PaymentMetrics from "./internal/paymentMetrics.ts"

/** Which payments of an account to list. */
export type CheckoutQuery = Omit<PaymentQuery, "account"> & { readonly account: AccountId }

/** The failures of opening a checkout. */
export type Failure = AccountsError | PaymentsError | StorageError

/** Payments of customers for their balance. */
export class Checkouts extends Context.Service<Checkouts, {
  /** Whether a payment provider is configured. Without one, `start` and `receive` fail with `PaymentsDisabled`. */
  readonly isEnabled: boolean

  /** Records an open payment in the caller's unit of work. Fails for a deleted account. Call `start` after the unit. */
  readonly reserve: (account: AccountId, cents: number) => Effect.Effect<Payment, Failure>

  /** Opens the checkout of a payment at the provider. */
  readonly start: (payment: Payment, urls: ReturnUrls) => Effect.Effect<OpenedPayment, PaymentsError | StorageError>

  /** Returns the payments of an account, newest first. */
  readonly list: (query: CheckoutQuery) => Effect.Effect<ReadonlyArray<Payment>, AccountsError | StorageError>

  /**
   * Handles a webhook of the provider: one unit of work ends the payment and makes the deposit. If the account cannot
   * get a deposit, or the amount differs, the payment is paid and not credited, which is logged as an error.
   */
  readonly receive: (
    body: Uint8Array,
    signature: string
  ) => Effect.Effect<void, EventUnreadable | PaymentsDisabled | SignatureRejected | StorageError>

  /**
   * Reads up to `limit` payments at the provider whose webhook is missing, and handles their outcome like `receive`.
   * Returns how many were read. A payment that fails is logged and does not stop the others.
   */
  readonly reconcile: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/generations/Checkouts") {}

/** Services that the layer requires. */
export type Requirements = Accounts | Payments | UnitOfWork

/** The checkouts over the surrounding services. */
export const layer: Layer.Layer<Checkouts, never, Requirements> = Layer.effect(
  Checkouts,
  Effect.gen(function*() {
    const accounts = yield* Accounts
    const payments = yield* Payments
    const settle = yield* makeSettle

    const lookAt = Effect.fnUntraced(function*(payment: Payment) {
      const outcome = yield* payments.look(payment)
      if (Option.isSome(outcome)) yield* settle(outcome.value)
    })

    return Checkouts.of({
      isEnabled: payments.isEnabled,

      reserve: Effect.fn("Checkouts.reserve")(function*(id: AccountId, cents: number) {
        yield* notDeleted(yield* accounts.get(id))
        return yield* payments.reserve({ account: id, cents })
      }),

      start: payments.start,

      list: Effect.fn("Checkouts.list")(function*(query: CheckoutQuery) {
        yield* accounts.get(query.account)
        return yield* payments.list(query)
      }),

      receive: Effect.fn("Checkouts.receive")(function*(body: Uint8Array, signature: string) {
        const event = yield* payments.verify(body, signature)
        if (event._tag === "Ended") yield* settle(event.outcome)
      }),

      reconcile: Effect.fn("Checkouts.reconcile")(function*(limit: number) {
        const due = yield* payments.claimDue(limit)
        yield* Effect.forEach(due, (payment) =>
          lookAt(payment).pipe(
            Effect.catchCause((cause) =>
              concernsAll(cause)
                ? Effect.failCause(cause)
                : Effect.logWarning("A payment was not read at the provider", { payment: payment.id }, cause)
            )
          ), { concurrency: looksMax, discard: true })
        return due.length
      })
    })
  })
)

/**
 * Reconciles payments in the background, on average every `interval` (default 1 minute) with `limit` payments per call
 * (default 50). Logs failures and continues. Any number of hosts may run it.
 */
export const layerSweep = Sweep.make({
  name: "payments without a webhook",
  interval: "1 minute",
  limit: 50,
  run: (limit) => Checkouts.use(({ reconcile }) => reconcile(limit))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum number of concurrent calls of a sweep to the provider. */
const looksMax = 4

const notDeleted = ({ id, status }: Account) =>
  status === "deleted" || status === "erased"
    ? Effect.fail(new AccountsError({ reason: new AccountDeleted({ account: id, erased: status === "erased" }) }))
    : Effect.void

/** Makes the function that ends a payment and makes its deposit. */
const makeSettle = Effect.gen(function*() {
  const accounts = yield* Accounts
  const payments = yield* Payments
  const { atomically } = yield* UnitOfWork

  const credit = Effect.fnUntraced(function*(outcome: CheckoutOutcome) {
    const decision = yield* payments.settle(outcome, { isCredited: true })
    if (decision._tag === "Paid") yield* deposit(accounts, decision.payment)
    return decision
  }, atomically)

  return Effect.fnUntraced(function*(outcome: CheckoutOutcome) {
    const decision = yield* credit(outcome).pipe(
      // The refusal has rolled the unit back, so the payment is open again.
      Effect.catchTag(
        "AccountsError",
        (error) =>
          Effect.tap(payments.settle(outcome, { isCredited: false }), (decision) =>
            decision._tag === "Paid"
              ? Effect.logError(
                "A payment cannot be credited: refund it at the provider",
                noteOf(decision.payment),
                error
              )
              : Effect.void)
      )
    )
    yield* PaymentMetrics.ended(decision)
    yield* log(decision, outcome)
  })
})

const deposit = (accounts: Accounts["Service"], payment: Payment) => {
  const id = AccountId.parse(payment.account)
  if (id === undefined) return Effect.die(new Error(`The account ${payment.account} of a payment is not an id`))
  const reference = `${payment.provider}:${Option.getOrElse(payment.providerReference, () => payment.id)}`
  return accounts.deposit(id, { cents: payment.cents, reference })
}

const log = (decision: Decision, outcome: CheckoutOutcome) => {
  switch (decision._tag) {
    case "Mismatched": {
      const { amount, currency } = outcome
      const note = { ...noteOf(decision.payment), paid: { amount, currency } }
      return Effect.logError("A payment differs from what was asked for: refund it at the provider", note)
    }
    case "Paid":
      return decision.payment.isCredited
        ? Effect.logInfo("A payment was credited", noteOf(decision.payment))
        : Effect.void
    case "Unknown":
      return Effect.logInfo("The payment provider reported a checkout that this service has not opened", {
        reference: outcome.reference
      })
    case "Ended":
    case "Unchanged":
      return Effect.void
  }
}

const noteOf = ({ account, cents, id, providerReference }: Payment) => ({
  payment: id,
  account,
  cents,
  reference: Option.getOrNull(providerReference)
})
