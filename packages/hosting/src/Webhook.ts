/**
 * Webhooks as a host has them: what seals the secrets of endpoints, what says where
 * webhooks may go, and the worker that sends them.
 */
import { WebhookData } from "@kinora/http-server"
import { UnitOfWork } from "@kinora/persistence"
import { UrlSigner } from "@kinora/storage"
import { AddressGuard, DeliveryWorker, Event, SecretBox, UndiciTransport, WebhookStore } from "@kinora/webhooks"
import { Cause, Context, Data, DateTime, Effect, Fiber, Layer } from "effect"
import * as Crypto from "./Crypto.ts"
import * as Keys from "./Keys.ts"
import type { Settings } from "./Settings.ts"

/** What `Services` must know of webhooks. */
export interface ProtectionOptions
  extends Pick<AddressGuard.AddressGuardOptions, "allowPrivate" | "lookup" | "ownAddresses" | "ownDomains">
{
  /** The first seals the secrets of endpoints, all open. */
  readonly keys: Keys.Keys
}

/** Seals and opens the secrets of endpoints, and guards where webhooks go. */
export const layerProtection = ({ keys, ...guard }: ProtectionOptions) =>
  Layer.mergeAll(
    SecretBox.layer({ keys }).pipe(Layer.provide([Crypto.layerAead, Crypto.layerDigest, Crypto.layerSecureRandom])),
    AddressGuard.layerWith(guard)
  )

/** As the settings say. Warns where a webhook may reach what is private. */
export const layerProtectionOf = (settings: Settings) =>
  Layer.unwrap(Effect.gen(function*() {
    const { baseUrl, webhookAllowPrivate: allowPrivate, webhookOwnAddresses: ownAddresses, webhookOwnDomains } =
      settings
    if (allowPrivate) {
      yield* Effect.logWarning("Webhooks may go to private addresses, over HTTP and to any port: not for production", {
        setting: "KINORA_WEBHOOK_ALLOW_PRIVATE"
      })
    }
    const keys = yield* Keys.webhooks(settings)
    const ownDomains = [...webhookOwnDomains, ...(baseUrl === undefined ? [] : [new URL(baseUrl).hostname])]
    return layerProtection({ keys, ownDomains, ownAddresses, allowPrivate })
  })).pipe(Layer.provide(Crypto.layerSecureRandom))

/** An endpoint's secret was sealed with a key that this process does not have. A start stops here. */
export class WebhookKeyMissing extends Data.TaggedError("WebhookKeyMissing")<{ readonly endpoint: string }> {
  override get message(): string {
    return `KINORA_WEBHOOK_KEYS lacks the key that sealed the secret of ${this.endpoint}: add it, or put the file ` +
      "webhook-key of the first start back into the data directory. If it is lost, start with KINORA_WEBHOOK_SENDS=0 " +
      "and issue new secrets"
  }
}

/**
 * Fails when endpoints sign with a secret that this process has no key of, so that the
 * start says so rather than every send. A process that sends nothing goes on, since it
 * is where operators put the matter right. It looks at some of those that the first key
 * did not seal. A text that was damaged is the matter of its endpoint alone: it shows
 * when something is sent there.
 */
export const checkKeys = Effect.fn("Webhook.checkKeys")(function*({ webhookSends }: Pick<Settings, "webhookSends">) {
  const box = yield* SecretBox.SecretBox
  const store = yield* WebhookStore.WebhookStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  for (const { account, id } of yield* store.findStaleSecrets(box.prefix, yield* DateTime.now, checkedMax)) {
    const newest = (yield* atomically(store.loadEndpoint(account, id)))?.secrets[0]
    if (newest === undefined || box.hasKeyOf(newest.sealed)) continue
    const error = new WebhookKeyMissing({ endpoint: id })
    return yield* webhookSends > 0 ? Effect.fail(error) : Effect.logError(error.message)
  }
})

/** What a worker is told. */
export interface WorkerOptions extends Pick<DeliveryWorker.DeliveryWorkerOptions, "lookPause" | "pollInterval"> {
  /** Sends at once; 0: none. */
  readonly sends: number
  /**
   * `{base_url}` of the links in bodies. An effect: where this process listens, or a
   * server does, since nobody has said better. Then nothing is sent before it is known,
   * and a warning says that receivers may not reach it.
   */
  readonly baseUrl: string | Effect.Effect<string>
}

/** What sends webhooks in this process. */
export class Sender extends Context.Service<Sender, {
  /** Claims nothing more, and waits for the sends that are under way, each for 10 seconds at most (D51). */
  readonly drain: Effect.Effect<void>
}>()("@kinora/hosting/Webhook/Sender") {}

/** Sends webhooks until its scope closes, and then drains. Needs a `Transport`. */
export const layerWorker = ({ baseUrl, sends, ...options }: WorkerOptions) =>
  Layer.effect(
    Sender,
    Effect.gen(function*() {
      const complete = typeof baseUrl === "string" ? completing(baseUrl) : Effect.flatMap(baseUrl, guessing)
      const sending = Effect.flatMap(complete, (complete) =>
        Layer.launch(DeliveryWorker.layerWith({
          ...options,
          sendsMax: sends,
          makeSigner: Crypto.makeWebhookSigner,
          complete
        }))).pipe(Effect.tapCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError("A bug ended the sending of webhooks in this process", cause)
        ))
      // On a fiber of its own, since a server knows its address only when all else is there.
      const fiber = yield* Effect.forkScoped(sends === 0 ? Effect.void : sending)
      return Sender.of({ drain: Fiber.interrupt(fiber) })
    })
  )

/** Sends over the network, to where the guard lets it. */
export const layerTransport = UndiciTransport.layerWith({})

/** Begins the drain, and does not wait for its end: closing the worker's layer does. */
export const startDrain = Effect.map(Sender, ({ drain }) => Effect.asVoid(Effect.forkDetach(drain)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Endpoints that a start looks at. */
const checkedMax = 100

/** What makes the data of bodies, with links on `baseUrl`. */
const completing = (baseUrl: string) =>
  Effect.map(UrlSigner.UrlSigner, (signer) => WebhookData.complete({ baseUrl, signer }))

/** As `completing`, and the first body with links says what they are on. */
const guessing = Effect.fnUntraced(function*(origin: string) {
  const complete = yield* completing(origin)
  const warn = yield* Effect.cached(
    Effect.logWarning("Links in webhooks may lead nowhere for their receivers: set KINORA_BASE_URL", { origin })
  )
  return (event: Event.Event) => Effect.andThen(event.type === Event.testType ? Effect.void : warn, complete(event))
})
