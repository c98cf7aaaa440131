/** Claims of due deliveries, with the body that every send of a delivery repeats. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type Cause, DateTime, Effect, Exit, identity, type Schema } from "effect"
import type { Claimed } from "../../Delivery.ts"
import type { Event } from "../../Event.ts"
import { type Demand, WebhookStore } from "../../WebhookStore.ts"

/** Parts of a body. */
export interface BodyParts {
  /** The delivery's id, by which receivers detect duplicates. */
  readonly id: string
  readonly type: string
  /** When the event happened, RFC 3339. */
  readonly createdAt: string
  readonly data: Schema.Json
}

/** Options for bodies and for the size of a claim. */
export interface BodyOptions {
  readonly claimBytesMax?: number | undefined
  readonly complete?: ((event: Event) => Effect.Effect<Schema.Json>) | undefined
  readonly body?: ((parts: BodyParts) => Schema.Json) | undefined
  readonly bodyBytesMax?: number | undefined
}

/** A claimed delivery with its body. */
export interface Sendable extends Claimed {
  readonly body: Uint8Array
  /** Whether the store has the body. Otherwise it is stored with the outcome of the send. */
  readonly isStored: boolean
}

/** Result of a claim. */
interface Batch {
  /** All claimed deliveries. */
  readonly taken: ReadonlyArray<Claimed>
  /** The claimed deliveries that have a body. */
  readonly sendable: ReadonlyArray<Sendable>
}

/** Times that a claim sets. */
export interface Times {
  /** End of the lease. */
  readonly until: DateTime.Utc
  /** When a delivery without a body is due again. */
  readonly restedAt: DateTime.Utc
}

/** Claims deliveries. */
export type Claim = (
  demands: ReadonlyArray<Demand>,
  now: DateTime.Utc,
  times: Times
) => Effect.Effect<Batch, StorageError>

/**
 * Makes the claim of a worker, which claims deliveries and makes the bodies of first sends.
 * Releases deliveries whose body cannot be made until `restedAt`.
 *
 * A claim is a unit of work if functions of the host make bodies: the unit stores them, because
 * these functions can return another body after a crash. The bodies go with the commit, and are
 * not sent before it. The default body depends only on the
 * event, so it is not stored before the first send, and the claim is one statement.
 */
export const make = Effect.fnUntraced(function*(options: BodyOptions) {
  const { atomically } = yield* UnitOfWork
  const store = yield* WebhookStore
  const isDerived = options.complete === undefined && options.body === undefined

  /** Without a unit, the deliveries are claimed already, and those that have a body are sent although the release fails. */
  const release = (failed: ReadonlyArray<Claimed>, at: DateTime.Utc) =>
    isDerived
      ? Effect.catchCause(
        store.release(failed, at),
        (cause) =>
          Effect.logError("Failed to release webhooks without a body, which are due when their leases end", cause)
      )
      : store.release(failed, at)

  const claim = Effect.fnUntraced(function*(demands: ReadonlyArray<Demand>, now: DateTime.Utc, times: Times) {
    const taken = yield* store.claim(demands, now, times.until, options.claimBytesMax ?? 8 * 1024 ** 2)
    const { made, ...bodies } = yield* makeBodies(options, taken)
    if (made.length > 0 && !isDerived) yield* Pipelining.atCommit(store.freeze(made))
    if (bodies.failed.length > 0) yield* release(bodies.failed, times.restedAt)
    const sendable = [...bodies.known, ...made.map((one) => ({ ...one, isStored: !isDerived }))]
    return { ...bodies, taken, sendable }
  }, isDerived ? identity : atomically)

  return ((demands, now, times) =>
    Effect.tap(
      claim(demands, now, times),
      ({ cause, failed }) =>
        cause === undefined ? Effect.void : Effect.annotateLogs(
          Effect.logError("Failed to make webhook bodies, retrying in a minute", cause),
          { deliveries: failed.map(({ delivery }) => delivery) }
        )
    )) satisfies Claim
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const utf8 = new TextEncoder()

/** Claimed deliveries by the state of their bodies. */
interface Bodies {
  readonly known: Array<Sendable>
  readonly made: Array<Omit<Sendable, "isStored">>
  readonly failed: Array<Claimed>
  /** The first failure. */
  cause: Cause.Cause<never> | undefined
}

const makeBodies = Effect.fnUntraced(function*(options: BodyOptions, taken: ReadonlyArray<Claimed>) {
  const bodies: Bodies = { known: [], made: [], failed: [], cause: undefined }
  for (const claimed of taken) {
    // A delivery to a disabled endpoint is not sent and needs no body.
    if (claimed.body !== null || claimed.endpoint.status === "disabled") {
      bodies.known.push({ ...claimed, body: claimed.body ?? new Uint8Array(), isStored: true })
      continue
    }
    const body = yield* Effect.exit(makeBody(options, claimed))
    if (Exit.isSuccess(body)) bodies.made.push({ ...claimed, body: body.value })
    else {
      bodies.failed.push(claimed)
      bodies.cause ??= body.cause
    }
  }
  return bodies
})

const makeBody = (
  { body = defaultBody, bodyBytesMax = 2 * 1024 * 1024, complete }: BodyOptions,
  { delivery, event }: Claimed
) =>
  Effect.map(
    Effect.suspend(() => complete === undefined ? Effect.succeed(event.data) : complete(event)),
    (data) => {
      const parts = { id: delivery, type: event.type, createdAt: DateTime.formatIso(event.createdAt), data }
      const bytes = utf8.encode(JSON.stringify(body(parts)))
      if (bytes.length > bodyBytesMax) throw new BodyTooLarge(bytes.length, bodyBytesMax)
      return bytes
    }
  )

class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge"
  constructor(bytes: number, bytesMax: number) {
    super(`The webhook body has ${bytes} bytes; the maximum is ${bytesMax}`)
  }
}

const defaultBody = ({ createdAt, data, id, type }: BodyParts): Schema.Json => ({
  id,
  type,
  created_at: createdAt,
  data
})
