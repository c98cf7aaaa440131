/** A sender with its event and its secrets. */
import { assert } from "@effect/vitest"
import { Secret, Signature, Webhook } from "../src/index.ts"

/** The secret of the endpoint. */
export const secret = Secret.encode(new Uint8Array(32).fill(7))

/** The secret of another endpoint. */
export const otherSecret = Secret.encode(new Uint8Array(32).fill(8))

/** The time of the tests, in seconds. */
export const now = 1_790_000_000

/** An event and its body. */
export const event = { id: "dlv_1", type: "order.paid", created_at: "2026-09-21T14:13:20Z", data: { note: "🦩 naïve" } }
export const body = JSON.stringify(event)

/** Returns a request with a valid signature. */
export const signed = async (
  text: string | Uint8Array = body,
  secrets: string | ReadonlyArray<string> = secret,
  timestamp = now
) => ({
  body: text,
  secret,
  nowMillis: now * 1000,
  headers: { "x-service-signature": await Signature.sign({ body: text, secret: secrets, timestamp }) }
})

/** Returns the error of a rejected verification. */
export const refusal = async (verified: Promise<unknown>): Promise<Webhook.VerificationError> => {
  const error = await verified.then(() => undefined, (error: unknown) => error)
  assert.instanceOf(error, Webhook.VerificationError)
  return error
}

/** Returns the reason of a rejected verification. */
export const reasonOf = async (verified: Promise<unknown>): Promise<Webhook.Reason> => (await refusal(verified)).reason
