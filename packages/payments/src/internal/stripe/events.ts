/** Webhooks of Stripe. */
import { Clock, Effect, Redacted, Schema } from "effect"
import { EventUnreadable, type ProviderEvent, SignatureRejected } from "../../PaymentProvider.ts"
import type { StripeClass } from "./calls.ts"
import { outcomeOf, Session } from "./session.ts"

/** Maximum age of a signature. Stripe signs each attempt to deliver anew. */
const toleranceSeconds = 300

/** Makes the function that verifies and decodes webhooks. */
export const makeVerify = (library: StripeClass, secrets: ReadonlyArray<Redacted.Redacted>) =>
  Effect.fn("StripeProvider.verify")(function*(body: Uint8Array, signature: string) {
    const now = yield* Clock.currentTimeMillis
    const isSigned = secrets.some((secret) => {
      try {
        return library.webhooks.signature?.verifyHeader(
          body,
          signature,
          Redacted.value(secret),
          toleranceSeconds,
          undefined,
          now
        )
      } catch {
        // The error has the body and the header.
        return false
      }
    })
    if (!isSigned) return yield* new SignatureRejected()
    const event = yield* decodeEvent(new TextDecoder().decode(body)).pipe(
      Effect.mapError((error) => new EventUnreadable({ problem: error.message }))
    )
    const status = statusOf(event.type)
    if (status === undefined) return ignored(event.type)
    const session = yield* decodeSession(event.data.object).pipe(
      Effect.mapError((error) => new EventUnreadable({ problem: error.message }))
    )
    // A session completes before money that takes days, such as a bank debit, is collected.
    if (status === "paid" && session.payment_status !== "paid") return ignored(event.type)
    return { _tag: "Ended", outcome: outcomeOf(session, status) } satisfies ProviderEvent
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ignored = (type: string): ProviderEvent => ({ _tag: "Ignored", type })

const statusOf = (type: string) => {
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return "paid"
    case "checkout.session.async_payment_failed":
      return "failed"
    case "checkout.session.expired":
      return "expired"
    default:
      return undefined
  }
}

const decodeEvent = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({
  type: Schema.String,
  data: Schema.Struct({ object: Schema.Unknown })
})))

const decodeSession = Schema.decodeUnknownEffect(Session)
