/** Checkout sessions as Stripe's API returns them, reduced to what decides. */
import { DateTime, Effect, Schema } from "effect"
import { PaymentId } from "../../Payment.ts"
import { type CheckoutOutcome, type CheckoutState, type OpenCheckout, ProviderRejected } from "../../PaymentProvider.ts"

/** The currency of all payments. */
export const currency = "usd"

/** The key of the metadata with the id of the payment. */
export const paymentKey = "kinora_payment"

/** A session, in events and responses. */
export const Session = Schema.Struct({
  id: Schema.String,
  object: Schema.Literal("checkout.session"),
  status: Schema.NullOr(Schema.String),
  payment_status: Schema.String,
  // `null` in sessions that another program opened for other purposes.
  amount_total: Schema.NullOr(Schema.Int),
  currency: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Schema.Record(Schema.String, Schema.String))
})
/** A session. */
export type Session = typeof Session.Type

/** Returns the outcome of a session that ended. */
export const outcomeOf = (session: Session, status: CheckoutOutcome["status"]): CheckoutOutcome => ({
  reference: session.id,
  payment: PaymentId.parse(session.metadata?.[paymentKey] ?? ""),
  status,
  amount: session.amount_total ?? 0,
  currency: session.currency ?? ""
})

/** Decodes the response to the creation of a session. */
export const decodeOpened = (provider: string, response: unknown) =>
  Effect.map(
    decode(provider, Opened, response),
    ({ expires_at: expiresAt, id, url }): OpenCheckout => ({
      reference: id,
      url,
      expiresAt: DateTime.makeUnsafe(expiresAt * 1_000)
    })
  )

/** Decodes a session that was read. */
export const decodeState = (provider: string, response: unknown) =>
  Effect.map(decode(provider, WithIntent, response), (session): CheckoutState => {
    const status = statusOf(session)
    return status === "open" ? { _tag: "Open" } : { _tag: "Ended", outcome: outcomeOf(session, status) }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Opened = Schema.Struct({ id: Schema.String, url: Schema.String, expires_at: Schema.Int })

const WithIntent = Schema.Struct({
  ...Session.fields,
  payment_intent: Schema.NullOr(Schema.Union([Schema.String, Schema.Struct({ status: Schema.String })]))
})

const statusOf = ({ payment_intent: intent, payment_status: payment, status }: typeof WithIntent.Type) => {
  if (payment === "paid") return "paid"
  if (status === "expired") return "expired"
  if (status !== "complete") return "open"
  const hasFailed = typeof intent === "object" &&
    (intent === null || intent.status === "requires_payment_method" || intent.status === "canceled")
  return hasFailed ? "failed" : "open"
}

const decode = <S extends Schema.Codec<unknown, unknown>>(provider: string, schema: S, response: unknown) =>
  Schema.decodeUnknownEffect(schema)(response).pipe(
    Effect.mapError((error) =>
      new ProviderRejected({ provider, problem: `its response is not as documented: ${error.message}` })
    )
  )
