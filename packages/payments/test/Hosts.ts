/** Hosts over the store of a suite, with a provider that tests control. */
import { Context, DateTime, Effect, Layer } from "effect"
import type { PaymentId } from "../src/Payment.ts"
import {
  type CheckoutOutcome,
  type CheckoutState,
  PaymentProvider,
  type ProviderFailure
} from "../src/PaymentProvider.ts"
import * as Payments from "../src/Payments.ts"

/** Responses of the provider. */
export interface Script {
  readonly opening: Effect.Effect<void, ProviderFailure>
  readonly state: CheckoutState
}

/** One host over the store of the suite, whose provider responds as `script` determines at that time. */
export const makeHost = (options: Payments.PaymentsOptions = {}, script: Partial<Script> = {}) =>
  Effect.map(
    Layer.build(Payments.layerWith(options).pipe(Layer.provide(layerProvider(script)))),
    Context.get(Payments.Payments)
  )

/** The type of a host. */
export type Host = Payments.Payments["Service"]

/** A provider that opens every checkout. */
const layerProvider = (script: Partial<Script> = {}) =>
  Layer.succeed(
    PaymentProvider,
    PaymentProvider.of({
      name: "stripe",
      open: Effect.fnUntraced(function*({ payment }) {
        yield* script.opening ?? Effect.void
        const expiresAt = DateTime.add(yield* DateTime.now, { hours: 24 })
        return { reference: referenceOf(payment), url: `https://pay.test/${payment}`, expiresAt }
      }),
      read: () => Effect.sync(() => script.state ?? { _tag: "Open" }),
      verify: () => Effect.succeed({ _tag: "Ignored", type: "test" })
    })
  )

export const urls: Payments.ReturnUrls = { successUrl: "https://shop.test/done", cancelUrl: "https://shop.test/back" }

/** Reserves and starts a payment. */
export const open = Effect.fnUntraced(function*(host: Host, account: string, cents = 2_000) {
  return (yield* host.start(yield* host.reserve({ account, cents }), urls)).payment
})

export const referenceOf = (payment: PaymentId): string => `cs_${payment}`

/** The outcome of a payment, by default paid in full. */
export const outcomeOf = (id: PaymentId, changes: Partial<CheckoutOutcome> = {}): CheckoutOutcome => ({
  reference: referenceOf(id),
  payment: id,
  status: "paid",
  amount: 2_000,
  currency: "usd",
  ...changes
})

export const reasonOf = <A>(effect: Effect.Effect<A, Payments.Failure>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag === "PaymentsError" ? error.reason._tag : error._tag)
