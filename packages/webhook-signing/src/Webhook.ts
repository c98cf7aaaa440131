/**
 * Receives webhooks: verifies first, and reads the event only then.
 *
 * The same event can arrive more than once, and events can arrive in another order than
 * they happened: keep `event.id` in your database together with what you do about it, and
 * do nothing when it is there already.
 */
import * as body from "./internal/body.ts"
import * as verification from "./internal/verification.ts"
import * as Signature from "./Signature.ts"
import { VerificationError } from "./VerificationError.ts"

export type { RequestLike } from "./internal/body.ts"
export { type Reason, VerificationError } from "./VerificationError.ts"

/** An event as it arrives (section "Body"). */
export interface Event<Type extends string = string, Data = unknown> {
  /** The delivery, the same in every send: ignore duplicates by it. */
  readonly id: string
  /** What happened. Let types pass that you do not know: new ones come. */
  readonly type: Type
  /** When it happened, RFC 3339. */
  readonly created_at: string
  /** What it happened to. */
  readonly data: Data
}

/** A request that was verified. */
export interface Verified<E extends Event = Event> extends Signature.Checked {
  readonly event: E
}

/**
 * Verifies a body that you have, and reads the event in it. Rejects with a
 * `VerificationError`.
 *
 * `E` is what you expect of the sender: the envelope is checked, `data` is not.
 */
export const verify = async <E extends Event = Event>(request: Signature.SignedRequest): Promise<Verified<E>> => {
  const checked = await Signature.verify(request)
  return { ...checked, event: parse(body.expectRaw(request.body)) as E }
}

/** How to receive. */
export interface ReceiveOptions extends Signature.VerifyOptions {
  /** The largest body that is read. Default 2 MiB, twice what `@kinora/webhooks` lets the data of an event be. */
  readonly bodyBytesMax?: number | undefined
}

/**
 * Reads the raw body of a request and verifies it: a standard `Request`, or what Node,
 * Express, Fastify and others call one. A request without a well-formed signature is
 * turned down before its body is read. Rejects with a `VerificationError`, and as the
 * request does when it breaks off.
 *
 * `E` as in `verify`.
 */
export const receive = async <E extends Event = Event>(
  request: body.RequestLike,
  options: ReceiveOptions
): Promise<Verified<E>> => {
  const pending = verification.begin(request.headers, options)
  const bytes = await body.read(request, options.bodyBytesMax ?? bodyBytesMaxDefault)
  const checked = await verification.complete(pending, bytes)
  return { ...checked, event: parse(bytes) as E }
}

/** The HTTP status to answer an error with: that of a `VerificationError`, and 500 for any other, so that it is sent again. */
export const statusOf = (error: unknown): number => error instanceof VerificationError ? error.status : 500

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const bodyBytesMaxDefault = 2 * 1024 ** 2

const parse = (body: Uint8Array | string): Event => {
  const event = toJson(body)
  if (isEvent(event)) return event
  throw new VerificationError("malformed_event")
}

const toJson = (body: Uint8Array | string): unknown => {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

const isEvent = (value: unknown): value is Event =>
  typeof value === "object" && value !== null && "data" in value &&
  "id" in value && typeof value.id === "string" && value.id !== "" &&
  "type" in value && typeof value.type === "string" &&
  "created_at" in value && typeof value.created_at === "string"
