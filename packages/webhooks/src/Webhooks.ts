/** Endpoints with their secrets, and the events that are sent to them. */
import * as AddressGuard from "@kinora/address-guard/AddressGuard"
import * as Backend from "@kinora/persistence/Backend"
import * as Migrations from "@kinora/persistence/Migrations"
import type { StorageError } from "@kinora/persistence/StorageError"
import * as Sweep from "@kinora/persistence/Sweep"
import * as UnitOfWork from "@kinora/persistence/UnitOfWork"
import type { WakingOptions } from "@kinora/persistence/Waking"
import { Context, type DateTime, type Duration, Effect, Layer, type Redacted } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Delivery, DeliveryId, Send } from "./Delivery.ts"
import type { Endpoint, EndpointId } from "./Endpoint.ts"
import type { Event, NewEvent } from "./Event.ts"
import * as Deliveries from "./internal/service/deliveries.ts"
import * as Dependencies from "./internal/service/Dependencies.ts"
import * as Endpoints from "./internal/service/endpoints.ts"
import type { EndpointChange } from "./internal/service/endpoints.ts"
import * as Events from "./internal/service/events.ts"
import * as FailingEndpoints from "./internal/service/failingEndpoints.ts"
import * as Forget from "./internal/service/forget.ts"
import type { ForgetCommand } from "./internal/service/forget.ts"
import type { WebhooksOptions } from "./internal/service/limits.ts"
import * as Secrets from "./internal/service/secrets.ts"
import * as MemoryWebhookStore from "./MemoryWebhookStore.ts"
import * as SecretBox from "./SecretBox.ts"
import * as SqlWebhookStore from "./SqlWebhookStore.ts"
import * as Wakeup from "./Wakeup.ts"
import type { WebhooksError } from "./WebhooksError.ts"
import type { FailedRestarted, WebhookStore } from "./WebhookStore.ts"

export type { DeliveryPage, History } from "./internal/service/deliveries.ts"
export type { EndpointChange, NewEndpoint } from "./internal/service/endpoints.ts"
export type { ForgetCommand } from "./internal/service/forget.ts"
export type { WebhooksOptions } from "./internal/service/limits.ts"

/** An endpoint with a new secret, which cannot be read again. */
export interface Issued {
  readonly endpoint: Endpoint
  readonly secret: Redacted.Redacted
}

/** Errors of `Webhooks`. */
export type Failure = WebhooksError | StorageError

/** Manages endpoints and publishes events. Ids are looked up among those of the account. */
export class Webhooks extends Context.Service<Webhooks, {
  /**
   * Registers an endpoint and issues its first secret. Call it outside of units of work, because
   * it resolves the URL's host.
   */
  readonly create: (
    account: string,
    endpoint: Endpoints.NewEndpoint
  ) => Effect.Effect<Issued, Failure>
  /** Returns the endpoints of the account, oldest first. */
  readonly list: (account: string) => Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
  /** Returns an endpoint of the account. */
  readonly get: (account: string, id: EndpointId) => Effect.Effect<Endpoint, Failure>
  /**
   * Changes the URL, the filter or the status of an endpoint. Pending deliveries are sent to the
   * new URL. Call it outside of units of work if the URL changes, because it resolves the host.
   */
  readonly update: (account: string, id: EndpointId, change: EndpointChange) => Effect.Effect<Endpoint, Failure>
  /**
   * Issues a new secret. Sends are signed with it immediately, and with the previous secrets for
   * `overlap`. Without an overlap the previous secrets expire immediately.
   */
  readonly rotate: (
    account: string,
    id: EndpointId,
    overlap?: Duration.Input
  ) => Effect.Effect<Issued, Failure>
  /** Removes an endpoint. Its pending deliveries are not sent. */
  readonly remove: (account: string, id: EndpointId) => Effect.Effect<void, Failure>
  /**
   * Deletes the endpoints of an account with their secrets, events, deliveries and logs, for example because a person asks for
   * it, also those of removed endpoints. Returns the number of deliveries, lines of logs and endpoints. Works in sets of `limit`
   * rows, each a unit of work of its own, or all in the transaction of the caller. The first set removes all endpoints, so that
   * nothing is claimed any more. If a call ends early, another one continues. Idempotent.
   *
   * Pending deliveries are not sent. A send that has begun ends, and its outcome is not stored. A unit that has read the
   * endpoints and commits an event meanwhile leaves it unsent until the sweep deletes it by its age, so end the use of the
   * account first.
   */
  readonly forget: (command: ForgetCommand) => Effect.Effect<number, StorageError>

  /**
   * Publishes events in the open unit of work or transaction, or in one of its own. Creates a
   * delivery for each enabled endpoint of the account that accepts the type, due on commit. An
   * event that no endpoint accepts is not stored.
   */
  readonly publish: (events: ReadonlyArray<NewEvent>) => Effect.Effect<void, StorageError>
  /** Sends an event of type `webhook.test` with `data` `{}` to the endpoint, regardless of its filter. */
  readonly test: (account: string, id: EndpointId) => Effect.Effect<Delivery, Failure>
  /** Sends an ended delivery again under its id, with the whole schedule. */
  readonly resend: (account: string, id: DeliveryId) => Effect.Effect<Delivery, Failure>
  /**
   * Sends the failed deliveries of an endpoint since a time again, oldest first, until the account has `resendMax` pending
   * ones. Returns how many it sends, and how many are left.
   */
  readonly resendFailed: (
    account: string,
    id: EndpointId,
    since: DateTime.Utc
  ) => Effect.Effect<FailedRestarted, Failure>
  /** Returns the event of a delivery of an endpoint of the account. */
  readonly event: (
    account: string,
    endpoint: EndpointId,
    id: DeliveryId
  ) => Effect.Effect<Event, Failure>
  /** Returns a page of an endpoint's deliveries, newest first. */
  readonly deliveries: (
    account: string,
    id: EndpointId,
    page: Deliveries.DeliveryPage
  ) => Effect.Effect<ReadonlyArray<Delivery>, Failure>
  /** Returns the log of an endpoint, newest first. */
  readonly sends: (account: string, id: EndpointId) => Effect.Effect<ReadonlyArray<Send>, Failure>
  /**
   * Returns the newest deliveries of the account's events about a subject, with their sends. Omits
   * deliveries that were deleted or whose endpoint was removed.
   */
  readonly history: (account: string, subject: string) => Effect.Effect<Deliveries.History, StorageError>

  /**
   * Fails deliveries that are pending for too long, deletes old deliveries and events, and trims
   * logs, up to `limit` rows each. Returns the number of rows.
   */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
  /**
   * Seals secrets of up to `limit` endpoints with the first key of the box and deletes expired
   * secrets. Returns the number of endpoints.
   */
  readonly reseal: (limit: number) => Effect.Effect<number, StorageError>
  /**
   * Disables up to `limit` endpoints of which every send failed for `disableAfter`, and publishes `webhook.disabled` to the other
   * endpoints of their accounts. Returns their number. A change of an endpoint and a new secret begin that time again.
   */
  readonly disableFailing: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/webhooks/Webhooks") {}

/** Services that `Webhooks` requires. */
export type Requirements =
  | AddressGuard.AddressGuard
  | SecretBox.SecretBox
  | SecureRandom.SecureRandom
  | UnitOfWork.UnitOfWork
  | Wakeup.Wakeup
  | WebhookStore

/** Creates the service over the surrounding services. */
export const make = Effect.fnUntraced(function*(options: WebhooksOptions) {
  const dependencies = yield* Dependencies.make(options)
  return Webhooks.of({
    ...Endpoints.methods(dependencies),
    ...Secrets.methods(dependencies),
    ...Events.methods(dependencies),
    ...Deliveries.methods(dependencies),
    ...FailingEndpoints.methods(dependencies),
    ...Forget.methods(dependencies)
  })
})

/** Provides the service over the surrounding services. */
export const layerWith = (options: WebhooksOptions): Layer.Layer<Webhooks, never, Requirements> =>
  Layer.effect(Webhooks, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<Webhooks, never, Requirements> = layerWith({})

/** Options for `layerMemory` and `layerPostgres`. */
export interface WebhooksLayerOptions extends WebhooksOptions {
  /** Keys that encrypt the secrets of endpoints, at least 32 bytes each. The first one seals, all open. */
  readonly keys: SecretBox.SecretBoxOptions["keys"]
  /** Rules for URLs. Default: HTTPS to public addresses on the ports 443 and 8443. */
  readonly guard?: AddressGuard.AddressGuardOptions | undefined
  /** Hooks that wake the workers of other processes. Without them, other processes find deliveries by polling. */
  readonly wakeup?: WakingOptions | undefined
}

/** Services that `layerMemory` and `layerPostgres` provide: what `DeliveryWorker.layerHttp` and callers of `publish` require. */
export type Provided =
  | AddressGuard.AddressGuard
  | SecretBox.SecretBox
  | UnitOfWork.UnitOfWork
  | Wakeup.Wakeup
  | Webhooks
  | WebhookStore

/** Provides webhooks in the memory of the process, for tests. */
export const layerMemory = (options: WebhooksLayerOptions): Layer.Layer<Provided | UnitOfWork.MemoryBackend> =>
  layerOver(options, MemoryWebhookStore.layer).pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/** Provides webhooks in Postgres. Brings the tables up to date when the layer is built. */
export const layerPostgres = (
  { schema, ...options }: WebhooksLayerOptions & Backend.SchemaOptions
): Layer.Layer<Provided, Migrations.SchemaMismatch | StorageError, SqlClient.SqlClient> => {
  const store = Backend.inSchema(SqlWebhookStore, schema)
  return layerOver(options, store.layer).pipe(
    Layer.provideMerge(UnitOfWork.layerSql),
    Layer.provide(Migrations.layer(store.migrations))
  )
}

/**
 * Calls `sweep`, `reseal` and `disableFailing` in the background, on average every `interval` (default
 * 5 minutes) with `limit` rows per statement (default 500). Logs failures and continues. Any
 * number of hosts may run it.
 */
export const layerSweep = (options: Sweep.LayerSweepOptions = {}): Layer.Layer<never, never, Webhooks> =>
  Layer.mergeAll(sweepDeliveries(options), sweepSecrets(options), sweepFailing(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerOver = <R>(
  { guard, keys, wakeup = {}, ...options }: WebhooksLayerOptions,
  store: Layer.Layer<WebhookStore, never, R>
) =>
  layerWith(options).pipe(
    Layer.provideMerge(Layer.mergeAll(
      store,
      SecretBox.layer({ keys }).pipe(Layer.provide([Aead.layerWebCrypto, Digest.layerWebCrypto])),
      AddressGuard.layerWith(guard),
      Wakeup.layerWith(wakeup)
    )),
    Layer.provide(SecureRandom.layerWebCrypto)
  )

const sweepDefaults = { interval: "5 minutes", limit: 500 } as const

const sweepDeliveries = Sweep.make({
  ...sweepDefaults,
  name: "webhooks",
  run: (limit) => Webhooks.use(({ sweep }) => sweep(limit))
})

const sweepSecrets = Sweep.make({
  ...sweepDefaults,
  name: "webhook secrets",
  run: (limit) => Webhooks.use(({ reseal }) => reseal(limit))
})

const sweepFailing = Sweep.make({
  ...sweepDefaults,
  name: "failing webhook endpoints",
  run: (limit) => Webhooks.use(({ disableFailing }) => disableFailing(limit))
})
