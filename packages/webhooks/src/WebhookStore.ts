/**
 * The port to the storage of endpoints, events, deliveries and logs.
 *
 * An implementation loads and applies; `Webhooks` and `DeliveryWorker` decide. Times are those
 * of the caller's clock. A store that processes share converts due times, leases and expiries to
 * its own clock (`DatabaseTime.hostClock`), so that processes whose clocks differ agree on them.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Duration, type Effect } from "effect"
import type { Claim, Claimed, Delivery, DeliveryId, Outcome, Send } from "./Delivery.ts"
import type { Endpoint, EndpointId, SealedSecret } from "./Endpoint.ts"
import type { Event, EventId } from "./Event.ts"

/** An endpoint with its secrets, newest first. */
export interface EndpointRecord {
  readonly endpoint: Endpoint
  readonly secrets: ReadonlyArray<SealedSecret>
}

/** An event to insert. */
export interface InsertedEvent extends Event {
  /** See `NewEvent`. */
  readonly subject?: string | undefined
}

/** A delivery to create. */
export interface NewDelivery {
  readonly id: DeliveryId
  readonly event: EventId
  readonly endpoint: EndpointId
}

/** An endpoint with due deliveries. */
export interface Due {
  readonly endpoint: EndpointId
  readonly account: string
}

/** A page of due endpoints. */
export interface DueList {
  readonly endpoints: ReadonlyArray<Due>
  /** When the next delivery of a visited endpoint without a due one is due; `null` if there is none. */
  readonly nextAt: DateTime.Utc | null
}

/** A number of deliveries to claim for an endpoint. */
export interface Demand {
  readonly endpoint: EndpointId
  readonly limit: number
}

/** The body of a first send, to store before it. */
export interface FrozenBody {
  readonly delivery: DeliveryId
  readonly body: Uint8Array
}

/** The outcome of a claim. It is applied only if the claim still holds. */
export interface Settlement extends Claim {
  readonly next:
    | { readonly _tag: "Delivered" }
    | { readonly _tag: "Failed" }
    /** The send failed and the next one is due at `dueAt`. */
    | { readonly _tag: "Again"; readonly dueAt: DateTime.Utc }
  /** Line of the endpoint's log; `null` if no request was made. */
  readonly send: {
    readonly outcome: Outcome
    readonly attempt: number
    readonly at: DateTime.Utc
    readonly durationMillis: number
  } | null
  /** The body that was sent. It is stored if another send follows, unless the delivery has a body. */
  readonly body?: Uint8Array | undefined
}

/** Failed deliveries to restart. */
export interface FailedRestart {
  readonly account: string
  /** An endpoint of the account. */
  readonly endpoint: EndpointId
  /** Deliveries of events before this time are not restarted. */
  readonly since: DateTime.Utc
  readonly at: DateTime.Utc
  /** Maximum number of pending deliveries of the account afterwards. */
  readonly pendingMax: number
}

/** Numbers of deliveries. */
export interface FailedRestarted {
  readonly restarted: number
  /** Failed deliveries since the time that are left. */
  readonly left: number
}

/** An endpoint whose sends fail. */
export interface FailingEndpoint {
  readonly account: string
  readonly id: EndpointId
  /** The time of the first failure since the last success. */
  readonly since: DateTime.Utc
}

/** Stores endpoints, events, deliveries and logs. Each method is atomic, and joins the open unit of work. */
export class WebhookStore extends Context.Service<WebhookStore, {
  /** Counts the endpoints of the account, and locks the account until the unit ends. */
  readonly countEndpoints: (account: string) => Effect.Effect<number, StorageError>
  /** Inserts an endpoint with its secrets. */
  readonly insertEndpoint: (record: EndpointRecord) => Effect.Effect<void, StorageError>
  /** Returns all endpoints of these accounts, oldest first. */
  readonly findEndpoints: (accounts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Endpoint>, StorageError>
  /** Returns an endpoint of the account, and locks it until the unit ends. */
  readonly loadEndpoint: (account: string, id: EndpointId) => Effect.Effect<EndpointRecord | undefined, StorageError>
  /** Replaces a loaded endpoint and its secrets. Forgets its failures, because the change can end them. */
  readonly saveEndpoint: (record: EndpointRecord) => Effect.Effect<void, StorageError>
  /** Replaces the secrets of a loaded endpoint by others that seal the same ones. */
  readonly saveSecrets: (record: EndpointRecord) => Effect.Effect<void, StorageError>
  /** Removes a loaded endpoint and its secrets. Its deliveries and its log are hidden, and `sweep` deletes them. */
  readonly removeEndpoint: (id: EndpointId) => Effect.Effect<void, StorageError>

  /** Inserts events and their deliveries, which are due immediately. */
  readonly publish: (
    events: ReadonlyArray<InsertedEvent>,
    deliveries: ReadonlyArray<NewDelivery>
  ) => Effect.Effect<void, StorageError>

  /** Returns a delivery of one of the account's endpoints, and locks it until the unit ends. */
  readonly loadDelivery: (account: string, id: DeliveryId) => Effect.Effect<Delivery | undefined, StorageError>
  /**
   * Makes a loaded, ended delivery pending and due at `at`, without failed sends and without a
   * body. Earlier claims no longer count as attempts.
   */
  readonly restart: (id: DeliveryId, at: DateTime.Utc) => Effect.Effect<void, StorageError>
  /** Restarts failed deliveries like `restart`, oldest first, as far as the limit permits. Skips locked ones. */
  readonly restartFailed: (options: FailedRestart) => Effect.Effect<FailedRestarted, StorageError>
  /** Returns the event of a delivery of an endpoint of the account. */
  readonly findEvent: (
    account: string,
    endpoint: EndpointId,
    id: DeliveryId
  ) => Effect.Effect<Event | undefined, StorageError>
  /** Returns the newest deliveries of an endpoint, newest first, older than `before` if it is given. */
  readonly listDeliveries: (
    endpoint: EndpointId,
    limit: number,
    before?: DeliveryId
  ) => Effect.Effect<ReadonlyArray<Delivery>, StorageError>
  /** Returns the newest deliveries of the account's events about a subject, newest first. Omits removed endpoints. */
  readonly listDeliveriesAbout: (
    account: string,
    subject: string,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Delivery>, StorageError>
  /** Returns the newest lines about these deliveries in the logs of their endpoints, newest first. */
  readonly listSendsOf: (
    deliveries: ReadonlyArray<DeliveryId>,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Send>, StorageError>
  /** Returns the newest lines of an endpoint's log, newest first. */
  readonly listSends: (endpoint: EndpointId, limit: number) => Effect.Effect<ReadonlyArray<Send>, StorageError>

  /**
   * Returns up to `limit` endpoints with a delivery that is due at `now`, in the order of ids,
   * starting after `after`. The cost depends on the number of endpoints with pending
   * deliveries, not on the number of deliveries.
   */
  readonly due: (
    now: DateTime.Utc,
    limit: number,
    after?: EndpointId
  ) => Effect.Effect<DueList, StorageError>
  /**
   * Claims the deliveries of each endpoint that have been due longest, and skips those that
   * another transaction has locked. They become due again at `until`. `demands` must name an
   * endpoint at most once. Deliveries of removed endpoints are never claimed.
   *
   * Claims at most `bytesMax` bytes of event data and bodies, but at least one delivery. The
   * first delivery of each endpoint comes before the second of any, in the order of `demands`.
   * Unlimited by default.
   *
   * A delivery that cannot be decoded is logged and released until `until`. A delivery without
   * its event fails.
   */
  readonly claim: (
    demands: ReadonlyArray<Demand>,
    now: DateTime.Utc,
    until: DateTime.Utc,
    bytesMax?: number
  ) => Effect.Effect<ReadonlyArray<Claimed>, StorageError>
  /** Stores the bodies of first sends, in the unit that claimed the deliveries. The unit can store them with its commit. */
  readonly freeze: (bodies: ReadonlyArray<FrozenBody>) => Effect.Effect<void, StorageError>
  /**
   * Applies the settlements whose claims still hold, and returns their deliveries. Logs all
   * sends, each once: a repeated settlement adds no line. A set must name a claim at most once.
   * Ended deliveries lose their bodies.
   *
   * A line with the reason `disabled` does not count as a failed send. It is logged only if the
   * newest line of the endpoint has another reason, and once per set, so that a backlog does not
   * displace the sends in the log.
   *
   * Stores the first failure of each endpoint since its last success. A set with a success and failures of an endpoint is a
   * success.
   */
  readonly settle: (
    settlements: ReadonlyArray<Settlement>
  ) => Effect.Effect<ReadonlyArray<DeliveryId>, StorageError>
  /** Releases claims that still hold, so that they do not count as attempts. The deliveries are due at `at`. */
  readonly release: (claims: ReadonlyArray<Claim>, at: DateTime.Utc) => Effect.Effect<void, StorageError>

  /**
   * Fails up to `limit` pending deliveries that were published or restarted before `before`, and
   * returns their number. Deliveries under a lease at `now` stay, because their send may succeed.
   */
  readonly expire: (before: DateTime.Utc, now: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  /**
   * Deletes up to `limit` ended deliveries that were published or restarted before `before`,
   * events without further deliveries, and the deliveries and logs of removed endpoints. Returns
   * the number of deliveries and lines.
   */
  readonly sweep: (before: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  /**
   * Removes all endpoints of the account, and deletes up to `limit` of their deliveries, lines and, when an endpoint has none
   * left, endpoints, also of those that were removed before. Deletes events without further deliveries. A store may delete all
   * at once. Returns the number of deliveries, lines and endpoints, which is less than `limit` only if no other is left. Waits
   * for units that have locked one of them.
   */
  readonly forget: (account: string, limit: number) => Effect.Effect<number, StorageError>
  /** Deletes up to `limit` lines of logs, except the newest `kept` of each endpoint. Returns their number. */
  readonly trimSends: (kept: number, limit: number) => Effect.Effect<number, StorageError>
  /**
   * Returns up to `limit` enabled endpoints of which every send failed in a time of `after` until the newest one, and locks them
   * until the unit ends. Sends are those of the log and the first failure that `settle` stored. Skips locked ones. An endpoint to which nothing was sent at the end of that time is not one of them.
   */
  readonly lockFailing: (
    after: Duration.Duration,
    limit: number
  ) => Effect.Effect<ReadonlyArray<FailingEndpoint>, StorageError>
  /** Returns up to `limit` endpoints with an expired secret, or with one whose sealed text does not begin with `prefix`. */
  readonly findStaleSecrets: (
    prefix: string,
    now: DateTime.Utc,
    limit: number
  ) => Effect.Effect<ReadonlyArray<{ readonly account: string; readonly id: EndpointId }>, StorageError>
}>()("@kinora/webhooks/WebhookStore") {}
