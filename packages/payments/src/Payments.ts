/**
 * Payments of accounts by a hosted checkout.
 *
 * The host credits a payment in the unit of work in which `settle` returns that it was paid. `settle` returns it once
 * per payment, however often and in whichever order webhooks arrive.
 */
import { Backend, Pipelining, type StorageError, Sweep, UnitOfWork } from "@kinora/persistence"
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { decide, type Decision } from "./internal/settlement.ts"
import * as MemoryPaymentStore from "./MemoryPaymentStore.ts"
import { type Payment, PaymentId, type PaymentQuery } from "./Payment.ts"
import * as PaymentProvider from "./PaymentProvider.ts"
import * as PaymentsError from "./PaymentsError.ts"
import { PaymentStore } from "./PaymentStore.ts"
import * as SqlPaymentStore from "./SqlPaymentStore.ts"

export type { Decision }

/** A payment to make. */
export interface NewPayment {
  readonly account: string
  /** In US cents. */
  readonly cents: number
}

/** Where the customer returns to. */
export type ReturnUrls = Pick<PaymentProvider.NewCheckout, "cancelUrl" | "successUrl">

/** A payment whose checkout is open. The address is not stored. */
export interface OpenedPayment {
  readonly payment: Payment
  readonly url: string
}

/** The failures of commands: a rejected command, or the storage. */
export type Failure = PaymentsError.PaymentsError | StorageError.StorageError

/** Opens, settles and lists payments. */
export class Payments extends Context.Service<Payments, {
  /** Whether a provider is configured. Without one, its calls fail with `PaymentsDisabled`. */
  readonly isEnabled: boolean

  /**
   * Records an open payment without a checkout, in the caller's unit of work. Call `start` after the unit, since it calls
   * the provider. A payment that is not started fails after 10 minutes.
   */
  readonly reserve: (payment: NewPayment) => Effect.Effect<Payment, Failure>

  /** Opens the checkout of a reserved payment at the provider. The payment fails if the provider does not open it. */
  readonly start: (payment: Payment, urls: ReturnUrls) => Effect.Effect<OpenedPayment, Failure>

  /** Verifies a webhook of the provider by its body as it arrived and its signature header. */
  readonly verify: PaymentProvider.PaymentProvider["Service"]["verify"]

  /**
   * Ends a payment in the caller's unit of work, and locks it. Returns `Paid` once per payment: the host credits the
   * amount in the same unit, or passes `isCredited: false` if it cannot.
   */
  readonly settle: (
    outcome: PaymentProvider.CheckoutOutcome,
    options: { readonly isCredited: boolean }
  ) => Effect.Effect<Decision, StorageError.StorageError>

  /** Claims open payments that are due to be read at the provider. Other calls claim them again after a growing pause. */
  readonly claimDue: (limit: number) => Effect.Effect<ReadonlyArray<Payment>, StorageError.StorageError>

  /** Reads the outcome of a payment at the provider. `None`: it is still open. */
  readonly look: (
    payment: Payment
  ) => Effect.Effect<Option.Option<PaymentProvider.CheckoutOutcome>, PaymentProvider.ProviderFailure>

  readonly get: (id: PaymentId) => Effect.Effect<Payment, Failure>

  /** Returns the payments of an account, newest first. */
  readonly list: (query: PaymentQuery) => Effect.Effect<ReadonlyArray<Payment>, StorageError.StorageError>

  /** Deletes up to `limit` payments that ended longer than `age` ago and returns their number. */
  readonly deleteSettled: (age: Duration.Input, limit: number) => Effect.Effect<number, StorageError.StorageError>
}>()("@kinora/payments/Payments") {}

/** Options for `layerWith`. */
export interface PaymentsOptions {
  /** Minimum amount of a payment in US cents. Default 100. */
  readonly centsMin?: number | undefined
  /** Maximum amount of a payment in US cents. Default 1,000,000. */
  readonly centsMax?: number | undefined
  /** Maximum number of open payments of an account. Default 20. */
  readonly openMax?: number | undefined
}

/** The default limits. */
export const defaults: Readonly<Record<keyof PaymentsOptions, number>> = {
  centsMin: 100,
  centsMax: 1_000_000,
  openMax: 20
}

const make = Effect.fnUntraced(function*(options: PaymentsOptions) {
  const store = yield* PaymentStore
  const provider = yield* PaymentProvider.PaymentProvider
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom

  const settle = Effect.fn("Payments.settle")(
    function*(outcome: PaymentProvider.CheckoutOutcome, { isCredited }: { readonly isCredited: boolean }) {
      const found = outcome.payment === undefined ? Option.none() : yield* store.lock(outcome.payment)
      const decision = decide(found, outcome, { now: yield* DateTime.now, provider: provider.name, isCredited })
      if ("settlement" in decision) yield* Pipelining.atCommit(store.settle(decision.payment.id, decision.settlement))
      return decision
    },
    atomically
  )

  return Payments.of({
    isEnabled: provider.name !== undefined,

    reserve: makeReserve(store, provider, atomically, random, options),

    start: makeStart(store, provider, settle),

    verify: provider.verify,

    settle,

    claimDue: Effect.fn("Payments.claimDue")(function*(limit: number) {
      if (provider.name === undefined) return []
      return yield* store.claimDue({ provider: provider.name, limit })
    }),

    look: makeLook(provider),

    get: Effect.fn("Payments.get")(function*(id: PaymentId) {
      const found = yield* store.find(id)
      if (Option.isSome(found)) return found.value
      return yield* refuse(new PaymentsError.PaymentNotFound({ payment: id }))
    }),

    list: Effect.fn("Payments.list")(store.list),

    deleteSettled: Effect.fn("Payments.deleteSettled")(function*(age: Duration.Input, limit: number) {
      return yield* store.deleteSettled(DateTime.subtractDuration(yield* DateTime.now, age), limit)
    })
  })
})

/** Services that the layer requires. */
export type Requirements =
  | PaymentProvider.PaymentProvider
  | PaymentStore
  | SecureRandom.SecureRandom
  | UnitOfWork.UnitOfWork

/** Provides the service over the surrounding store and provider. */
export const layerWith = (options: PaymentsOptions): Layer.Layer<Payments, never, Requirements> =>
  Layer.effect(Payments, make(options))

/** Provides the service in the memory of the process, for tests. Requires a provider. */
export const layerMemory = Layer.suspend(() => layerWith({})).pipe(Backend.memory(MemoryPaymentStore.layer))

/** Provides the service in Postgres. Requires a provider. Runs the pending migrations of the package while the layer is built. */
export const layerPostgres = (options: PaymentsOptions = {}) =>
  layerWith(options).pipe(Backend.postgres(SqlPaymentStore))

/** Options for `layerSweep`. */
export interface PaymentsSweepOptions extends Sweep.LayerSweepOptions {
  /** How long payments are kept after their end. Default: forever. */
  readonly settledKept?: Duration.Input | undefined
}

/** Deletes old payments in the background, by default none. With `settledKept`: 500 per statement and every hour. Any number of hosts may run it. */
export const layerSweep = (
  { interval = "1 hour", limit = 500, settledKept = Duration.infinity }: PaymentsSweepOptions = {}
): Layer.Layer<never, never, Payments> =>
  Sweep.layerAged({
    name: "payments",
    interval,
    limit,
    age: settledKept,
    run: (age, limit) => Payments.use(({ deleteSettled }) => deleteSettled(age, limit))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Atomically = UnitOfWork.UnitOfWork["Service"]["atomically"]
type Provider = PaymentProvider.PaymentProvider["Service"]
type Store = PaymentStore["Service"]

const refuse = (reason: PaymentsError.PaymentsErrorReason) => new PaymentsError.PaymentsError({ reason })

/** Creates `Payments.reserve`. */
const makeReserve = (
  store: Store,
  provider: Provider,
  atomically: Atomically,
  random: SecureRandom.SecureRandom["Service"],
  { centsMax = defaults.centsMax, centsMin = defaults.centsMin, openMax = defaults.openMax }: PaymentsOptions
): Payments["Service"]["reserve"] =>
  Effect.fn("Payments.reserve")(
    function*({ account, cents }: NewPayment) {
      if (provider.name === undefined) return yield* refuse(new PaymentProvider.PaymentsDisabled())
      if (!Number.isSafeInteger(cents) || cents < centsMin || cents > centsMax) {
        return yield* refuse(new PaymentsError.PaymentAmountInvalid({ centsMin, centsMax }))
      }
      const [, openCount] = yield* Pipelining.both(store.lockAccount(account), store.countOpen(account))
      if (openCount >= openMax) {
        return yield* refuse(new PaymentsError.TooManyPayments({ openMax }))
      }
      const payment: Payment = {
        id: yield* PaymentId.make,
        account,
        cents,
        provider: provider.name,
        providerReference: Option.none(),
        status: "open",
        isCredited: false,
        createdAt: yield* DateTime.now,
        expiresAt: Option.none(),
        settledAt: Option.none()
      }
      yield* Pipelining.atCommit(store.insert(payment))
      return payment
    },
    Effect.provideService(SecureRandom.SecureRandom, random),
    atomically
  )

/** Creates `Payments.start`. */
const makeStart = (
  store: Store,
  provider: Provider,
  settle: Payments["Service"]["settle"]
): Payments["Service"]["start"] =>
  Effect.fn("Payments.start")(function*(payment: Payment, urls: ReturnUrls) {
    const { account, cents, id } = payment
    const { expiresAt, reference, url } = yield* provider.open({ ...urls, account, cents, payment: id }).pipe(
      // The caller never gets the address, so that nobody can pay, also if the provider has opened the checkout.
      Effect.tapError(() => settle(neverOpened(payment), { isCredited: false })),
      Effect.catchIf(
        (error) => error._tag !== "StorageError",
        (reason) => Effect.fail(refuse(reason))
      )
    )
    yield* store.saveCheckout(id, { reference, expiresAt })
    return {
      payment: { ...payment, providerReference: Option.some(reference), expiresAt: Option.some(expiresAt) },
      url
    }
  })

/** Creates `Payments.look`. */
const makeLook = (provider: Provider): Payments["Service"]["look"] =>
  Effect.fn("Payments.look")(function*(payment: Payment) {
    // The process ended before the provider responded, or before its response was saved.
    if (Option.isNone(payment.providerReference)) return Option.some(neverOpened(payment))
    const reference = payment.providerReference.value
    const state = yield* provider.read(reference)
    if (state._tag === "Ended") return Option.some({ ...state.outcome, payment: payment.id })
    if (state._tag === "Open") return Option.none()
    yield* Effect.logWarning(
      "The payment provider does not know a checkout: does its key belong to the same account?",
      {
        payment: payment.id,
        reference
      }
    )
    const now = yield* DateTime.now
    const isOver = Option.exists(payment.expiresAt, (time) => DateTime.isLessThan(time, now))
    return isOver ? Option.some({ ...neverOpened(payment), reference, status: "expired" }) : Option.none()
  })

const neverOpened = ({ cents, id }: Payment): PaymentProvider.CheckoutOutcome => ({
  reference: undefined,
  payment: id,
  status: "failed",
  amount: cents,
  currency: "usd"
})
