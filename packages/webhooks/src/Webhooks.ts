/** Endpoints, their secrets, and the events that are sent to them. */
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, type Duration, Effect, Layer, type Redacted } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { AddressGuard } from "./AddressGuard.ts"
import type { Delivery, DeliveryId, Send } from "./Delivery.ts"
import type { Endpoint, EndpointId, EndpointStatus } from "./Endpoint.ts"
import type { NewEvent } from "./Event.ts"
import * as Deliveries from "./internal/deliveries.ts"
import * as Endpoints from "./internal/endpoints.ts"
import * as Limits from "./internal/limits.ts"
import type { SecretBox } from "./SecretBox.ts"
import type { Wakeup } from "./Wakeup.ts"
import type { WebhooksError } from "./WebhooksError.ts"
import type { WebhookStore } from "./WebhookStore.ts"

/** Limits, each with its default. */
export interface WebhooksOptions {
  /** Endpoints per account. Default 5. */
  readonly endpointsMax?: number | undefined
  /** Types in the filter of an endpoint. Default 32. */
  readonly typesMax?: number | undefined
  /** The longest overlap of a rotation. Default 24 hours (D47). */
  readonly overlapMax?: Duration.Input | undefined
  /** Secrets of an endpoint that sign at the same time. Default 5. */
  readonly secretsMax?: number | undefined
  /** The largest `data` of an event, in bytes of JSON. A larger one is a defect, which undoes its unit. Default 1 MiB. */
  readonly dataBytesMax?: number | undefined
  /** Lines of an endpoint's log that are kept. Default 20. */
  readonly sendsKept?: number | undefined
  /** How long ended deliveries are kept, and can be sent again; since they were published or last sent again. Default 7 days. */
  readonly keepFor?: Duration.Input | undefined
  /** How long a delivery may be pending before it is given up: where far more is published than an endpoint takes. Default 3 days. */
  readonly pendingMax?: Duration.Input | undefined
}

/** What an endpoint is to be. */
export interface NewEndpoint {
  readonly url: string
  /** Event types to send; `null` or absent: all. */
  readonly types?: ReadonlyArray<string> | null | undefined
}

/** What of an endpoint is to change; what is absent stays. */
export interface EndpointChange {
  readonly url?: string | undefined
  readonly types?: ReadonlyArray<string> | null | undefined
  readonly status?: EndpointStatus | undefined
}

/** An endpoint and the secret that was issued for it, which nobody can read again. */
export interface Issued {
  readonly endpoint: Endpoint
  readonly secret: Redacted.Redacted
}

type Refusable<A> = Effect.Effect<A, WebhooksError | StorageError>

/** Every id is looked for among the account's own. */
export class Webhooks extends Context.Service<Webhooks, {
  /** Registers an endpoint after the address guard let its URL through. That looks addresses up, so call it outside of units. */
  readonly create: (account: string, endpoint: NewEndpoint) => Refusable<Issued>
  /** The endpoints of the account, oldest first. */
  readonly list: (account: string) => Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
  readonly get: (account: string, id: EndpointId) => Refusable<Endpoint>
  /**
   * Changes the URL, which is guarded as a new one (outside of units, too), the filter, or
   * whether anything is sent. Deliveries that are pending go to the new URL.
   */
  readonly update: (account: string, id: EndpointId, change: EndpointChange) => Refusable<Endpoint>
  /**
   * Issues a new secret. What is sent from now on is signed with it, and for `overlap`
   * also with those before; without an overlap they end now (D47).
   */
  readonly rotate: (account: string, id: EndpointId, overlap?: Duration.Input) => Refusable<Issued>
  /** Removes an endpoint. Its pending deliveries are not sent any more. */
  readonly remove: (account: string, id: EndpointId) => Refusable<void>

  /**
   * Tells of events, in the open unit of work: a delivery for each enabled endpoint of
   * the account that takes the type, due when the unit commits. An event that no
   * endpoint takes leaves nothing behind.
   */
  readonly publish: (events: ReadonlyArray<NewEvent>) => Effect.Effect<void, StorageError>
  /** Sends an event of type `webhook.test` with `data` `{}` to the endpoint, whatever its filter (D48). */
  readonly test: (account: string, id: EndpointId) => Refusable<Delivery>
  /** Sends a delivery that has ended again, under its id, with the whole schedule (D48). */
  readonly resend: (account: string, id: DeliveryId) => Refusable<Delivery>
  /** The newest deliveries of an endpoint, newest first; `limit` at most 100. */
  readonly deliveries: (
    account: string,
    id: EndpointId,
    page: { readonly limit: number; readonly before?: DeliveryId | undefined }
  ) => Refusable<ReadonlyArray<Delivery>>
  /** The log of the endpoint, newest first. */
  readonly sends: (account: string, id: EndpointId) => Refusable<ReadonlyArray<Send>>

  /** Gives up deliveries that are pending for too long, deletes what is too old, trims logs; `limit` of each, answers of how many. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
  /** Seals secrets anew that an older key sealed, and deletes those that are over; answers for how many endpoints. */
  readonly reseal: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/webhooks/Webhooks") {}

/** What webhooks are built on. */
export type Requirements =
  | AddressGuard
  | SecretBox
  | SecureRandom.SecureRandom
  | UnitOfWork
  | Wakeup
  | WebhookStore

/** Webhooks over the surrounding services. */
export const make = Effect.fnUntraced(function*(options: WebhooksOptions) {
  const limits = Limits.of(options)
  const endpoints = yield* Endpoints.make(limits)
  const deliveries = yield* Deliveries.make(limits, endpoints)
  return Webhooks.of({ ...endpoints, ...deliveries })
})

/** Webhooks with these options. */
export const layerWith = (options: WebhooksOptions): Layer.Layer<Webhooks, never, Requirements> =>
  Layer.effect(Webhooks, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<Webhooks, never, Requirements> = layerWith({})
