/** Webhooks of a host: the encryption of endpoint secrets, the guard of addresses, and the worker that sends. */
import { AddressGuard } from "@kinora/address-guard"
import { WebhookData } from "@kinora/http-server"
import { UnitOfWork } from "@kinora/persistence"
import { UrlSigner } from "@kinora/storage"
import {
  type Delivery,
  DeliveryWorker,
  Event,
  SecretBox,
  Transport,
  UndiciTransport,
  WebhookStore
} from "@kinora/webhooks"
import { Cause, Context, Data, DateTime, Effect, Fiber, Layer } from "effect"
import * as Crypto from "./Crypto.ts"
import * as Keys from "./Keys.ts"
import type { Settings } from "./Settings.ts"

/** Options for `layerProtection`. */
export interface ProtectionOptions extends
  Pick<
    AddressGuard.AddressGuardOptions,
    "allowedNetworks" | "allowPrivate" | "lookup" | "ownAddresses" | "ownDomains"
  >
{
  /** Keys of endpoint secrets: the first encrypts, all decrypt. */
  readonly keys: Keys.Keys
}

/** Encrypts endpoint secrets, and checks the addresses that webhooks are sent to. */
export const layerProtection = ({ keys, ...guard }: ProtectionOptions) =>
  Layer.mergeAll(
    SecretBox.layer({ keys }).pipe(Layer.provide([Crypto.layerAead, Crypto.layerDigest, Crypto.layerSecureRandom])),
    AddressGuard.layerWith(guard)
  )

/** `layerProtection` with the settings of a host. Logs a warning if webhooks may reach private addresses. */
export const layerProtectionOf = (settings: Settings) =>
  Layer.unwrap(Effect.gen(function*() {
    if (settings.webhookAllowPrivate) {
      yield* Effect.logWarning("Webhooks may go to private addresses, over HTTP and to any port: not for production", {
        setting: "KINORA_WEBHOOK_ALLOW_PRIVATE"
      })
    }
    return layerProtection({ keys: yield* Keys.webhooks(settings), ...guardOf(settings) })
  })).pipe(Layer.provide(Crypto.layerSecureRandom))

/** The settings of the guard. */
type GuardSettings = Pick<
  Settings,
  "baseUrl" | "webhookAllowedNetworks" | "webhookAllowPrivate" | "webhookOwnAddresses" | "webhookOwnDomains"
>

/**
 * Posts an empty, unsigned body to a URL, with the guard and the transport of webhooks. Finds out whether webhooks of a
 * host with these settings reach a receiver, which may respond with any status.
 */
export const reach = (settings: GuardSettings, url: string): Effect.Effect<Delivery.Outcome> =>
  Transport.Transport.use(({ send }) => send({ url, headers: {}, body: new Uint8Array() })).pipe(
    Effect.provide(layerTransport.pipe(Layer.provide(AddressGuard.layerWith(guardOf(settings)))))
  )

/** The key of an endpoint's secret is missing. Stops the start. */
export class WebhookKeyMissing extends Data.TaggedError("WebhookKeyMissing")<{ readonly endpoint: string }> {
  override get message(): string {
    return `KINORA_WEBHOOK_KEYS lacks the key that encrypted the secret of ${this.endpoint}. Add the key, or restore ` +
      "the file webhook-key of the first start in the data directory. If the key is lost, start with " +
      "KINORA_WEBHOOK_SENDS=0 and issue new secrets"
  }
}

/**
 * Fails if the key of an endpoint's current secret is missing, so that the start reports
 * it instead of every send. A process with `webhookSends` 0 only logs it, since operators
 * use such a process to issue new secrets. Checks some of the secrets that the first key
 * did not encrypt. A damaged secret is reported when something is sent to its endpoint.
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

/** Options for `layerWorker`. */
export interface WorkerOptions extends Pick<DeliveryWorker.DeliveryWorkerOptions, "lookPause" | "pollInterval"> {
  /** Maximum number of concurrent sends; 0: none. */
  readonly sends: number
  /**
   * Origin of the links in bodies. An effect stands for a guess: the address that this
   * process or a server listens on. Nothing is sent before it completes, and a warning
   * is logged that receivers may not reach the links.
   */
  readonly baseUrl: string | Effect.Effect<string>
}

/** The sender of webhooks in this process. */
export class Sender extends Context.Service<Sender, {
  /** Stops claiming, and waits for the sends in progress, which take up to 10 seconds. */
  readonly drain: Effect.Effect<void>
}>()("@kinora/hosting/Webhook/Sender") {}

/** Sends webhooks until its scope closes, then drains. Requires a `Transport`. */
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
            : Effect.logError("An internal error stopped the sending of webhooks in this process", cause)
        ))
      // In the background, since the address of a server is available after all other layers are built.
      const fiber = yield* Effect.forkScoped(sends === 0 ? Effect.void : sending)
      return Sender.of({ drain: Fiber.interrupt(fiber) })
    })
  )

/** Sends over the network to the addresses that the guard accepts. */
export const layerTransport = UndiciTransport.layerWith({})

/** Starts the drain without waiting for its end, which closing the worker's layer does. */
export const startDrain = Effect.map(Sender, ({ drain }) => Effect.asVoid(Effect.forkDetach(drain)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const guardOf = ({ baseUrl, webhookOwnDomains, ...settings }: GuardSettings) => ({
  ownDomains: [...webhookOwnDomains, ...(baseUrl === undefined ? [] : [new URL(baseUrl).hostname])],
  ownAddresses: settings.webhookOwnAddresses,
  allowedNetworks: settings.webhookAllowedNetworks,
  allowPrivate: settings.webhookAllowPrivate
})

/** Maximum number of endpoints that a start checks. */
const checkedMax = 100

/** Makes the function that completes event data with links on `baseUrl`. */
const completing = (baseUrl: string) =>
  Effect.map(UrlSigner.UrlSigner, (signer) => WebhookData.complete({ baseUrl, signer }))

/** `completing` for a guessed origin. Logs a warning with the first body that has links. */
const guessing = Effect.fnUntraced(function*(origin: string) {
  const complete = yield* completing(origin)
  const warn = yield* Effect.cached(
    Effect.logWarning("Links in webhooks may be unreachable for their receivers: set KINORA_BASE_URL", { origin })
  )
  return (event: Event.Event) => Effect.andThen(event.type === Event.testType ? Effect.void : warn, complete(event))
})
