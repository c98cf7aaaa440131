/**
 * Receipt of webhooks: verifies the signature, then parses the event.
 *
 * An event may arrive more than once, and events may arrive out of order. Store `event.id` in the
 * transaction that processes the event, and skip events whose id is already stored.
 */
import * as body from "./internal/body.ts"
import * as verification from "./internal/verification.ts"
import * as Signature from "./Signature.ts"
import { VerificationError } from "./VerificationError.ts"

export type { RequestLike } from "./internal/body.ts"
export { type Reason, statusOf, VerificationError } from "./VerificationError.ts"

/** An event. */
export interface Event<Type extends string = string, Data = unknown> {
  /** Id of the delivery, which is the same in every send. Use it to detect duplicates. */
  readonly id: string
  /** Type of the event. Accept unknown types, because new ones may be added. */
  readonly type: Type
  /** When it happened, RFC 3339. */
  readonly created_at: string
  /** Payload of the event. */
  readonly data: Data
}

/** A verified request. */
export interface Verified<E extends Event = Event> extends Signature.Checked {
  readonly event: E
}

/**
 * Verifies a body and parses its event. Rejects with a `VerificationError`.
 *
 * `E` is the expected type. Only the envelope is checked, `data` is not.
 */
export const verify = async <E extends Event = Event>(request: Signature.SignedRequest): Promise<Verified<E>> => {
  const checked = await Signature.verify(request)
  return { ...checked, event: parse(body.expectRaw(request.body)) as E }
}

/** Options for `receive`. */
export interface ReceiveOptions extends Signature.VerifyOptions {
  /** Bytes of a body. Default 2 MiB, twice the default limit for `data` in `@kinora/webhooks`. */
  readonly bodyBytesMax?: number | undefined
}

/**
 * Reads the raw body of a request, verifies it and parses its event. Accepts a standard `Request`
 * and the requests of Node, Express, Fastify and others. Rejects a request without a well-formed
 * signature before it reads the body. Rejects with a `VerificationError`, or with the error of the
 * request if it is aborted.
 *
 * `E` is the expected type. Only the envelope is checked, `data` is not.
 */
export const receive = async <E extends Event = Event>(
  request: body.RequestLike,
  options: ReceiveOptions
): Promise<Verified<E>> => {
  const { bytes, checked } = await body.verified(request, {
    bytesMax: options.bodyBytesMax,
    begin: (headers) => verification.begin(headers, options),
    complete: verification.complete
  })
  return { ...checked, event: parse(bytes) as E }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const parse = (text: Uint8Array | string): Event => {
  const event = body.toJson(text)
  if (isEvent(event)) return event
  throw new VerificationError(
    "malformed_event",
    "The signature is valid, but the body is not a JSON object with the strings `id`, `type` and `created_at`, " +
      "and `data`. Use `Signature.verify` for bodies of any other shape."
  )
}

const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && "data" in value &&
  "id" in value && typeof value.id === "string" && value.id !== "" &&
  "type" in value && typeof value.type === "string" &&
  "created_at" in value && typeof value.created_at === "string"
