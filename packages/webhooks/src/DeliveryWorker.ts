/**
 * Sends what is due. Any number of processes may: each claims under a lease, so a
 * delivery is in one hand at a time, and of a process that dies others take over.
 *
 * One fiber looks for endpoints with deliveries that are due: when it is told of some,
 * when the next one is due, and now and then. Another one claims for all of them
 * together, as many as there may be sends, so a batch grows by itself while the last one
 * is being claimed. Each send runs, and is settled, on a fiber of its own.
 */
import * as StorageError from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Signature } from "@kinora/webhook-signing"
import { type Cause, Context, DateTime, Duration, Effect, Fiber, Latch, Layer, Option, type Schema } from "effect"
import type { Event } from "./Event.ts"
import * as claiming from "./internal/sending/claiming.ts"
import type { Limits } from "./internal/sending/Fairness.ts"
import * as Looking from "./internal/sending/looking.ts"
import { pause } from "./internal/sending/pause.ts"
import * as sending from "./internal/sending/sending.ts"
import * as settling from "./internal/sending/settling.ts"
import * as Slots from "./internal/sending/Slots.ts"
import * as Retry from "./Retry.ts"
import type { SecretBox } from "./SecretBox.ts"
import type { Transport } from "./Transport.ts"
import { Wakeup } from "./Wakeup.ts"
import { WebhookStore } from "./WebhookStore.ts"

/** Limits and looks, each with its default. */
export interface DeliveryWorkerOptions {
  /** Sends at the same time, of all endpoints. Default 256. */
  readonly sendsMax?: number | undefined
  /** Of these, those to one endpoint. Default 16. */
  readonly endpointSendsMax?: number | undefined
  /** Of these, those to the endpoints of one account. Default 48. */
  readonly accountSendsMax?: number | undefined
  /**
   * Of all sends, those to endpoints whose last send failed or took long, or of which
   * nothing is known. Default half: the dead ones share it, so that they never take the
   * room of those that answer (D46). An account's sends have the same part.
   */
  readonly suspectSendsMax?: number | undefined
  /**
   * Of all sends, those that only accounts may take that have none under way to an
   * endpoint that answers. Default a quarter: so endpoints that answered and now hang do
   * not take everything (D46). Of an account's sends the same part is for endpoints that
   * have none under way.
   */
  readonly reservedSends?: number | undefined
  /** A send that takes longer makes its endpoint a suspect. Default 2 seconds. */
  readonly slowAfter?: Duration.Input | undefined
  /** Pauses between sends. Default 10, 60 and 300 seconds. */
  readonly schedule?: Retry.Schedule | undefined
  /** Bytes of events and bodies that one claim reads, unless a single delivery has more. Default 8 MiB. */
  readonly claimBytesMax?: number | undefined
  /** How long a claim lasts. A send gets half of it at most, and begins in the first half. Default 30 seconds. */
  readonly lease?: Duration.Input | undefined
  /** How often to look for what nobody told about. Default 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /**
   * The shortest pause between two looks, in real time, and the longest between two
   * claims, which is otherwise as long as the claim before took: what comes in a burst is
   * found and claimed together. Default 5 milliseconds.
   */
  readonly lookPause?: Duration.Input | undefined
  /** How long a drain lets sends end and keeps what came of them. Default 15 seconds. */
  readonly grace?: Duration.Input | undefined
  /**
   * Makes what signs with a secret. Default `Signature.makeSigner`, which hands every
   * body to a thread; a host that signs at once saves the way there and back.
   */
  readonly makeSigner?: ((secret: string) => Signature.Signer | Promise<Signature.Signer>) | undefined
  /** What header names begin with. Default `X-Service-`. */
  readonly headerPrefix?: string | undefined
  /** Default `Service-Webhooks/1.0`. */
  readonly userAgent?: string | undefined
  /**
   * Makes the body's `data` of an event's when it is first sent: links that are good for
   * an hour from then, for instance. It must be quick and touch no database. When it
   * fails nothing is sent, and it is tried again later. Default: the event's own.
   */
  readonly complete?: ((event: Event) => Effect.Effect<Schema.Json>) | undefined
  /** Makes the whole body. Default `{ id, type, created_at, data }`. */
  readonly body?: ((parts: BodyParts) => Schema.Json) | undefined
  /** Bytes of a body. A longer one is not sent, and tried again later, like one that cannot be made. Default 2 MiB. */
  readonly bodyBytesMax?: number | undefined
}

/** What a body can say. */
export interface BodyParts {
  /** The delivery's id, by which receivers know duplicates (D43). */
  readonly id: string
  readonly type: string
  /** When the event happened, RFC 3339. */
  readonly createdAt: string
  readonly data: Schema.Json
}

/** A worker that sends until its layer closes. */
export class DeliveryWorker extends Context.Service<DeliveryWorker, {
  /** Claims nothing more, waits for the sends that are under way, and keeps what came of them. */
  readonly drain: Effect.Effect<void>
}>()("@kinora/webhooks/DeliveryWorker") {}

/** Starts a worker that drains when the scope closes. */
export const make = Effect.fnUntraced(function*(options: DeliveryWorkerOptions) {
  const lease = Duration.fromInputUnsafe(options.lease ?? "30 seconds")
  const slowAfter = Duration.toMillis(Duration.fromInputUnsafe(options.slowAfter ?? "2 seconds"))
  const lookPause = Duration.fromInputUnsafe(options.lookPause ?? "5 millis")
  const limits = limitsOf(options)
  const wakeup = yield* (yield* Wakeup).subscribe
  const slots = Slots.make(limits, slowAfter)
  const looking = yield* Looking.make(slots, wakeup, {
    lookPause,
    pollInterval: Duration.fromInputUnsafe(options.pollInterval ?? "1 second")
  })
  const store = yield* WebhookStore
  const claim = yield* claiming.make(options)
  const { release, settle } = yield* settling.make
  const send = yield* sending.make({
    lease,
    schedule: options.schedule ?? Retry.defaultSchedule,
    makeSigner: options.makeSigner ?? Signature.makeSigner,
    headerPrefix: options.headerPrefix ?? "X-Service-",
    userAgent: options.userAgent ?? "Service-Webhooks/1.0"
  })

  /** Whether a drain took too long. */
  let hasGivenUp = false

  /** Nothing was sent. Without a request to send, the endpoint's other deliveries would only be claimed in vain. */
  const giveBack = Effect.fnUntraced(function*(claimed: claiming.Sendable, cause: Cause.Cause<never> | undefined) {
    const now = yield* DateTime.now
    const at = cause === undefined ? now : DateTime.addDuration(now, restFor)
    if (cause !== undefined) {
      slots.rest(claimed.endpoint.id, at.epochMilliseconds)
      yield* Effect.logError("A webhook could not be signed; it is tried again in a minute", cause)
    }
    yield* release(claimed, at)
    looking.at(at)
  })

  const use = Effect.fnUntraced(function*(claimed: claiming.Sendable, slot: Slots.Slot) {
    const verdict = yield* send(claimed, slot)
    if (verdict._tag === "Unused") return yield* giveBack(claimed, verdict.cause)
    const { next, send: made } = verdict.settlement
    slots.end(
      slot,
      made === null || made.outcome.reason === "disabled"
        ? undefined
        : made.outcome.reason === "ok" && made.durationMillis <= slowAfter
    )
    yield* settle(verdict.settlement)
    if (next._tag === "Again") looking.at(next.dueAt)
  })

  const start = (claimed: claiming.Sendable, until: DateTime.Utc) => {
    const slot: Slots.Slot = { claimed, until: until.epochMilliseconds, sendingSince: undefined, isOver: false }
    return slots.hold(
      slot,
      use(claimed, slot).pipe(
        Effect.catchCause((cause) =>
          Effect.logError("What came of a webhook is not known; it is due again when its lease ends", cause)
        ),
        Effect.withSpan("DeliveryWorker.send", { root: true, attributes: { attempt: claimed.attempt } }),
        Effect.annotateLogs({ delivery: claimed.delivery, endpoint: claimed.endpoint.id })
      )
    )
  }

  const claimAndStart = Effect.fnUntraced(function*(asked: ReadonlyArray<Slots.Asked>, now: DateTime.Utc) {
    const until = DateTime.addDuration(now, lease)
    const { sendable, taken } = yield* claim(asked, now, { until, restedAt: DateTime.addDuration(now, restFor) })
    // The database answered so late that nobody waits any more. Without an answer, they are due when their leases end.
    if (hasGivenUp) return yield* store.release(sendable, now)
    // When the next one of an endpoint is due is not known once those that were due are taken.
    if (slots.answer(asked, taken)) looking.at(now)
    yield* Effect.forEach(sendable, (claimed) => start(claimed, until), { discard: true })
  })

  /** What is wrong with one endpoint's rows shall not stop the others. */
  const claimEach = (asked: ReadonlyArray<Slots.Asked>, now: DateTime.Utc) =>
    Effect.forEach(asked, (one) =>
      Effect.catchCause(claimAndStart([one], now), (cause) => {
        slots.rest(one.endpoint, DateTime.addDuration(now, restFor).epochMilliseconds)
        return Effect.annotateLogs(
          Effect.logError("The webhooks of an endpoint could not be claimed; they are tried again in a minute", cause),
          { endpoint: one.endpoint }
        )
      }), { discard: true })

  const claimDue = Effect.gen(function*() {
    slots.changed.closeUnsafe()
    const now = yield* DateTime.now
    const monotonic = yield* sending.monotonicMillis
    const asked = slots.ask({ now: now.epochMilliseconds, monotonic }, claimMax)
    if (asked.length === 0) return
    yield* Effect.catchCause(claimAndStart(asked, now), (cause) => {
      const failure = StorageError.findInCause("DeliveryWorker.claim", cause)
      return failure?.isRetryable === true ? Effect.fail(failure) : claimEach(asked, now)
    })
    slots.changed.openUnsafe()
  }).pipe(
    // What was claimed is sent, also when the worker stops just then.
    Effect.uninterruptible,
    Effect.catchCause((cause) =>
      Effect.logError("Claiming webhooks failed; it is tried again", cause).pipe(
        Effect.andThen(Effect.sleep(claimRetryDelay)),
        Effect.andThen(slots.changed.open)
      )
    )
  )
  const claimingLoop = Effect.gen(function*() {
    yield* slots.changed.await
    const [took] = yield* Effect.timed(claimDue)
    yield* pause(Duration.min(took, lookPause))
  }).pipe(Effect.forever)

  const loops = limits.sendsMax === 0
    ? []
    // The scope does not wait for a claim that the database never answers; `drain` ends them.
    : yield* Effect.forEach([looking.loop, claimingLoop], (loop) => Effect.forkDetach(loop))

  const stop = Effect.gen(function*() {
    yield* Fiber.interruptAll(loops)
    yield* slots.isEmpty
  }).pipe(
    Effect.timeoutOption(options.grace ?? "15 seconds"),
    Effect.flatMap((ended) => Option.isSome(ended) ? Effect.void : giveUp)
  )
  /** What is still under way is as after a crash. */
  const giveUp = Effect.gen(function*() {
    hasGivenUp = true
    const count = slots.interrupt()
    yield* Effect.logWarning("Webhooks were not done in time; they are due again when their leases end", { count })
    yield* Effect.timeoutOption(slots.isEmpty, interruptionMax)
  })

  const drained = Latch.makeUnsafe(false)
  let draining = false
  const drain = Effect.suspend(() => {
    const first = !draining
    draining = true
    const ending = stop.pipe(Effect.ensuring(drained.open), Effect.withSpan("DeliveryWorker.drain"))
    // On a fiber of its own, so that whoever gives up waiting does not stop it.
    return first ? Effect.andThen(Effect.forkDetach(ending), drained.await) : drained.await
  })
  yield* Effect.addFinalizer(() => drain)

  return DeliveryWorker.of({ drain })
})

/** A worker that sends as long as the layer lives. */
export const layerWith = (
  options: DeliveryWorkerOptions
): Layer.Layer<DeliveryWorker, never, WebhookStore | UnitOfWork | SecretBox | Transport | Wakeup> =>
  Layer.effect(DeliveryWorker, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<DeliveryWorker, never, WebhookStore | UnitOfWork | SecretBox | Transport | Wakeup> =
  layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Deliveries of one claim. */
const claimMax = 128

/** How long what cannot be sent through a fault of our own is left alone. */
const restFor = Duration.minutes(1)

/** How long a drain waits for what it interrupted. */
const interruptionMax = Duration.seconds(1)

/** Between claims while the storage is away. */
const claimRetryDelay = Duration.seconds(1)

const limitsOf = (options: DeliveryWorkerOptions): Limits => {
  const { accountSendsMax = 48, endpointSendsMax = 16, sendsMax = 256 } = options
  const { suspectSendsMax = Math.max(1, Math.floor(sendsMax / 2)) } = options
  const { reservedSends = Math.floor(sendsMax / 4) } = options
  return { sendsMax, accountSendsMax, endpointSendsMax, suspectSendsMax, reservedSends }
}
