/**
 * The port to where endpoints, events, deliveries and the log of sends are kept.
 * Implementers load and apply; what is allowed is decided in `Webhooks` and `Retry`.
 * Times are parameters, so that the caller's clock rules.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { Claim, Claimed, Delivery, DeliveryId, Outcome, Send } from "./Delivery.ts"
import type { Endpoint, EndpointId, SealedSecret } from "./Endpoint.ts"
import type { Event, EventId } from "./Event.ts"

/** An endpoint with its secrets, newest first. */
export interface EndpointRecord {
  readonly endpoint: Endpoint
  readonly secrets: ReadonlyArray<SealedSecret>
}

/** A delivery that begins. */
export interface NewDelivery {
  readonly id: DeliveryId
  readonly event: EventId
  readonly endpoint: EndpointId
}

/** An endpoint with deliveries that are due. */
export interface Due {
  readonly endpoint: EndpointId
  readonly account: string
}

/** What is due now, and when to look again. */
export interface DueList {
  readonly endpoints: ReadonlyArray<Due>
  /** When the next delivery of an endpoint that was looked at and has none due is due; `null`: there is none. */
  readonly nextAt: DateTime.Utc | null
}

/** How many deliveries of an endpoint are wanted. */
export interface Demand {
  readonly endpoint: EndpointId
  readonly limit: number
}

/** What becomes of a claimed delivery. Only the one who holds the claim can say it. */
export interface Settlement extends Claim {
  readonly next:
    | { readonly _tag: "Delivered" }
    | { readonly _tag: "Failed" }
    /** The send failed, and there is another one at `dueAt`. */
    | { readonly _tag: "Again"; readonly dueAt: DateTime.Utc }
  /** What the log says; absent: there was no send to speak of. */
  readonly send: {
    readonly outcome: Outcome
    readonly attempt: number
    readonly at: DateTime.Utc
    readonly durationMillis: number
  } | null
}

/** The port. Each method is one atomic step, or part of the open unit. */
export class WebhookStore extends Context.Service<WebhookStore, {
  /** How many endpoints the account has. Locks the number until the unit ends. */
  readonly countEndpoints: (account: string) => Effect.Effect<number, StorageError>
  readonly insertEndpoint: (record: EndpointRecord) => Effect.Effect<void, StorageError>
  /** All endpoints of these accounts, oldest first. */
  readonly findEndpoints: (accounts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
  /** Locks the endpoint until the unit ends. */
  readonly loadEndpoint: (account: string, id: EndpointId) => Effect.Effect<EndpointRecord | undefined, StorageError>
  /** Replaces everything that is known of a loaded endpoint. */
  readonly saveEndpoint: (record: EndpointRecord) => Effect.Effect<void, StorageError>
  /** Takes a loaded endpoint and its secrets away. Its deliveries and its log can no longer be found; `sweep` deletes them. */
  readonly removeEndpoint: (id: EndpointId) => Effect.Effect<void, StorageError>

  /** Keeps events and their deliveries, which are due at once. */
  readonly publish: (
    events: ReadonlyArray<Event>,
    deliveries: ReadonlyArray<NewDelivery>
  ) => Effect.Effect<void, StorageError>

  /** A delivery of one of the account's endpoints, locked until the unit ends. */
  readonly loadDelivery: (account: string, id: DeliveryId) => Effect.Effect<Delivery | undefined, StorageError>
  /** Begins a new series for a loaded delivery: pending, due at `at`, no failed sends, no body, and earlier claims count no more. */
  readonly restart: (id: DeliveryId, at: DateTime.Utc) => Effect.Effect<void, StorageError>
  /** The newest deliveries of an endpoint, newest first, from before `before` where it is given. */
  readonly listDeliveries: (
    endpoint: EndpointId,
    limit: number,
    before?: DeliveryId
  ) => Effect.Effect<ReadonlyArray<Delivery>, StorageError>
  /** The newest lines of an endpoint's log, newest first. */
  readonly listSends: (endpoint: EndpointId, limit: number) => Effect.Effect<ReadonlyArray<Send>, StorageError>

  /**
   * Up to `limit` endpoints with a delivery that is due at `now`, in the order of ids from
   * after `after` on. Costs as much as there are endpoints with pending deliveries, however many those are.
   */
  readonly due: (
    now: DateTime.Utc,
    limit: number,
    after?: EndpointId
  ) => Effect.Effect<DueList, StorageError>
  /**
   * Claims the deliveries of each endpoint that have been due longest, passing over
   * those that another claim is taking. They are due again at `until`. An endpoint
   * appears once. Deliveries of removed endpoints are never claimed.
   *
   * It ends before the data of their events and their bodies pass `bytesMax` bytes
   * together: the first delivery of each endpoint comes before the second of any, in the
   * order of the demands, and one is always claimed. Absent: there is no bound.
   *
   * What cannot be read is logged and given back until then; what has lost its event ends
   * as failed.
   */
  readonly claim: (
    demands: ReadonlyArray<Demand>,
    now: DateTime.Utc,
    until: DateTime.Utc,
    bytesMax?: number
  ) => Effect.Effect<ReadonlyArray<Claimed>, StorageError>
  /** Keeps the bytes of first sends. Part of the unit that claimed them. */
  readonly freeze: (
    bodies: ReadonlyArray<{ readonly delivery: DeliveryId; readonly body: Uint8Array }>
  ) => Effect.Effect<void, StorageError>
  /**
   * Applies what still holds, and logs all sends, each once however often it is told.
   * Answers the deliveries whose claim held; it holds no more. The bodies of ended ones go.
   *
   * `disabled` is no send that failed. Of such lines only the first is logged until there
   * is another one in the endpoint's log, so that a backlog does not push the sends out.
   */
  readonly settle: (
    settlements: ReadonlyArray<Settlement>
  ) => Effect.Effect<ReadonlyArray<DeliveryId>, StorageError>
  /** Gives claims back that were not used, so that they do not count as attempts. They are due at `at`. */
  readonly release: (claims: ReadonlyArray<Claim>, at: DateTime.Utc) => Effect.Effect<void, StorageError>

  /**
   * Ends up to `limit` pending deliveries whose series began before `before` as failed;
   * answers how many. Those under a lease at `now` are left: their send may be answered.
   */
  readonly expire: (before: DateTime.Utc, now: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  /**
   * Deletes up to `limit` ended deliveries whose series began before `before`, the events
   * that nobody needs then, and what is left of removed endpoints. Answers how many
   * deliveries and lines of logs.
   */
  readonly sweep: (before: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  /** Deletes lines of logs but for the newest `kept` of each endpoint, up to `limit` lines; answers how many. */
  readonly trimSends: (kept: number, limit: number) => Effect.Effect<number, StorageError>
  /** Up to `limit` endpoints with a secret whose sealed text does not begin with `prefix`, or one that is over at `now`. */
  readonly findStaleSecrets: (
    prefix: string,
    now: DateTime.Utc,
    limit: number
  ) => Effect.Effect<ReadonlyArray<{ readonly account: string; readonly id: EndpointId }>, StorageError>
}>()("@kinora/webhooks/WebhookStore") {}
