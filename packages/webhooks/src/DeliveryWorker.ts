/**
 * The worker that sends due deliveries. Any number of processes may run one: each claims
 * deliveries under a lease, so a delivery is sent by one worker at a time, and the deliveries
 * of a crashed process are claimed by others when their leases end.
 *
 * One fiber polls for endpoints with due deliveries: after a wake-up, when the next delivery
 * becomes due, and at the poll interval. A second one claims for all these endpoints in one
 * statement, up to the number of free slots, so the size of a claim grows with the load. Each
 * send runs on its own fiber, which also stores the outcome.
 */
import type { AddressGuard } from "@kinora/address-guard/AddressGuard"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Signature } from "@kinora/webhook-signing"
import { Context, Duration, Effect, Layer, type Schema } from "effect"
import type { Event } from "./Event.ts"
import { claimLoop } from "./internal/worker/claimLoop.ts"
import type { BodyParts } from "./internal/worker/Claims.ts"
import * as Claims from "./internal/worker/Claims.ts"
import * as Drain from "./internal/worker/drain.ts"
import * as DueEndpoints from "./internal/worker/DueEndpoints.ts"
import type { Limits } from "./internal/worker/Fairness.ts"
import type { Parts } from "./internal/worker/Parts.ts"
import * as Send from "./internal/worker/Send.ts"
import * as Settlements from "./internal/worker/Settlements.ts"
import type { SignatureFormat } from "./internal/worker/Signatures.ts"
import * as Slots from "./internal/worker/Slots.ts"
import * as Retry from "./Retry.ts"
import type { SecretBox } from "./SecretBox.ts"
import type { Transport } from "./Transport.ts"
import * as UndiciTransport from "./UndiciTransport.ts"
import { Wakeup } from "./Wakeup.ts"
import { WebhookStore } from "./WebhookStore.ts"

export type { BodyParts } from "./internal/worker/Claims.ts"
export type { SignatureFormat } from "./internal/worker/Signatures.ts"

/** Options for `DeliveryWorker.layerWith`. */
export interface DeliveryWorkerOptions {
  /** Concurrent sends of this process. Default 256. */
  readonly sendsMax?: number | undefined
  /** Concurrent sends to one endpoint. Default 16. */
  readonly endpointSendsMax?: number | undefined
  /** Concurrent sends to the endpoints of one account. Default 48. */
  readonly accountSendsMax?: number | undefined
  /**
   * Concurrent sends to unproven endpoints: those whose last send failed or was slow, and those
   * without a recorded send. Default half of `sendsMax`. Dead endpoints share this part and
   * take no room from endpoints that respond. The same proportion holds inside each account.
   */
  readonly suspectSendsMax?: number | undefined
  /**
   * Part of `sendsMax` that is reserved for accounts without a send to a proven endpoint in
   * flight. Default a quarter, so that endpoints that responded before and hang now cannot use
   * every slot. Inside an account the same proportion is reserved for endpoints without a send
   * in flight.
   */
  readonly reservedSends?: number | undefined
  /** Duration after which a send is slow and its endpoint becomes a suspect. Default 2 seconds. */
  readonly slowAfter?: Duration.Input | undefined
  /** Pauses between the sends of a delivery. Default 10, 60 and 300 seconds. */
  readonly schedule?: Retry.Schedule | undefined
  /** Bytes of events and bodies that one claim reads, unless a single delivery has more. Default 8 MiB. */
  readonly claimBytesMax?: number | undefined
  /** Duration of a claim. A send starts in the first half of it and lasts at most half of it. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** Longest time between two polls. Default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /**
   * Shortest pause between two polls and longest pause between two claims, in real time, so that
   * events of one burst are found and claimed together. A claim is followed by a pause as long as
   * the claim took, up to this. Default 5 milliseconds.
   */
  readonly lookPause?: Duration.Input | undefined
  /** How long a drain waits for the sends in flight. Default 15 seconds. */
  readonly grace?: Duration.Input | undefined
  /**
   * Format of the signatures: `stripe` sends `<headerPrefix>Signature`, `standard` the headers of Standard Webhooks, and
   * `both` all of them. Every secret signs in both formats, so it can change at any time. Default `stripe`.
   */
  readonly signatureFormat?: SignatureFormat | undefined
  /**
   * Creates the signer of a secret for the format `stripe`. Default `Signature.makeSigner`, which uses WebCrypto. A host
   * with a synchronous HMAC saves a thread hop per body.
   */
  readonly makeSigner?: ((secret: string) => Signature.Signer | Promise<Signature.Signer>) | undefined
  /** Prefix of header names. Default `X-Service-`. */
  readonly headerPrefix?: string | undefined
  /** `User-Agent` header. Default `Service-Webhooks/1.0`. */
  readonly userAgent?: string | undefined
  /**
   * Makes the `data` of the body from an event on its first send, for example to include links
   * that expire. It must be fast and must not use the database. If it fails, nothing is sent
   * and the delivery is retried later. Default: the `data` of the event.
   */
  readonly complete?: ((event: Event) => Effect.Effect<Schema.Json>) | undefined
  /** Makes the body. Default `{ id, type, created_at, data }`. */
  readonly body?: ((parts: BodyParts) => Schema.Json) | undefined
  /** Bytes of a body. A larger one is not sent and is retried later, like one that cannot be made. Default 2 MiB. */
  readonly bodyBytesMax?: number | undefined
}

/** A worker that sends until its layer closes. */
export class DeliveryWorker extends Context.Service<DeliveryWorker, {
  /** Stops claiming, waits for the sends in flight and stores their outcomes. Idempotent. */
  readonly drain: Effect.Effect<void>
}>()("@kinora/webhooks/DeliveryWorker") {}

/** Services that a worker requires. */
export type Requirements = WebhookStore | UnitOfWork | SecretBox | Transport | Wakeup

/** Starts a worker that drains when the scope closes. */
export const make = Effect.fnUntraced(function*(options: DeliveryWorkerOptions) {
  const limits = limitsOf(options)
  const parts = yield* makeParts(limits, options)
  const loops = limits.sendsMax === 0
    ? []
    // Detached, because the scope must not wait for a claim to which the database never responds. The drain ends the loops.
    : yield* Effect.forEach([parts.dueEndpoints.loop, claimLoop(parts)], (loop) => Effect.forkDetach(loop))
  const drain = Drain.make(parts, loops, options.grace ?? "15 seconds")
  yield* Effect.addFinalizer(() => drain)
  return DeliveryWorker.of({ drain })
})

/** Provides a worker that sends while the layer lives. */
export const layerWith = (options: DeliveryWorkerOptions): Layer.Layer<DeliveryWorker, never, Requirements> =>
  Layer.effect(DeliveryWorker, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<DeliveryWorker, never, Requirements> = layerWith({})

/** Options for `layerHttp`. */
export interface HttpWorkerOptions extends DeliveryWorkerOptions {
  /** Options of the connections. */
  readonly transport?: UndiciTransport.UndiciTransportOptions | undefined
}

/** Provides a worker that sends over HTTP while the layer lives. Compose it with `Webhooks.layerPostgres` or `Webhooks.layerMemory`. */
export const layerHttp = (
  { transport, ...options }: HttpWorkerOptions = {}
): Layer.Layer<DeliveryWorker, never, Exclude<Requirements, Transport> | AddressGuard> =>
  layerWith(options).pipe(Layer.provide(UndiciTransport.layerWith(transport)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeParts = Effect.fnUntraced(function*(limits: Limits, options: DeliveryWorkerOptions) {
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const lookPause = Duration.fromInputUnsafe(options.lookPause ?? "5 millis")
  const slowAfter = Duration.toMillis(Duration.fromInputUnsafe(options.slowAfter ?? "2 seconds"))
  const wakeup = yield* (yield* Wakeup).subscribe
  const slots = Slots.make(limits, slowAfter)
  const dueEndpoints = yield* DueEndpoints.make(slots, wakeup, {
    lookPause,
    pollInterval: Duration.fromInputUnsafe(options.pollInterval ?? "1 second")
  })
  const send = yield* Send.make({
    lease,
    schedule: options.schedule ?? Retry.defaultSchedule,
    signatureFormat: options.signatureFormat ?? "stripe",
    makeSigner: options.makeSigner ?? Signature.makeSigner,
    headerPrefix: options.headerPrefix ?? "X-Service-",
    userAgent: options.userAgent ?? "Service-Webhooks/1.0"
  })
  const parts: Parts = {
    lease,
    lookPause,
    slowAfter,
    slots,
    dueEndpoints,
    send,
    store: yield* WebhookStore,
    claim: yield* Claims.make(options),
    settlements: yield* Settlements.make,
    hasGivenUp: false
  }
  return parts
})

const limitsOf = (options: DeliveryWorkerOptions): Limits => {
  const { accountSendsMax = 48, endpointSendsMax = 16, sendsMax = 256 } = options
  const { suspectSendsMax = Math.max(1, Math.floor(sendsMax / 2)) } = options
  const { reservedSends = Math.floor(sendsMax / 4) } = options
  return { sendsMax, accountSendsMax, endpointSendsMax, suspectSendsMax, reservedSends }
}
