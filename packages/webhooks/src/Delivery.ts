/**
 * Deliveries: one event for one endpoint.
 *
 *     (published) ──▶ pending ──▶ delivered    an endpoint returned 2xx for a send
 *                      ▲   │
 *               resend │   └────▶ failed       the last send of the schedule failed, the endpoint
 *                      │                       is disabled, or the delivery is too old
 *          delivered, failed
 *
 * A pending delivery has a due time. A claim moves it to the end of a lease, so the delivery of
 * a crashed process becomes due again without further action.
 */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"
import type { Endpoint, EndpointId, SealedSecret } from "./Endpoint.ts"
import type { Event, EventId } from "./Event.ts"

/** Ids of deliveries, such as `dlv_01k…`. Every send of a delivery has the same id. */
export const DeliveryId = TypeId.define("dlv", "DeliveryId")
/** Id of a delivery. */
export type DeliveryId = TypeId.Id<"DeliveryId">

/** Status of a delivery; see the diagram of the module. */
export const DeliveryStatus = Schema.Literals(["pending", "delivered", "failed"])
/** Status of a delivery. */
export type DeliveryStatus = typeof DeliveryStatus.Type

/** Result of a send, or the reason why none was made. HTTP errors are `status_<code>`. */
export const Reason = Schema.Union([
  Schema.Literals(["ok", "timeout", "dns", "connect", "tls", "blocked_address", "redirect", "protocol", "disabled"]),
  Schema.TemplateLiteral(["status_", Schema.Int])
])
/** Result of a send, or the reason why none was made. */
export type Reason = typeof Reason.Type

/** Outcome of a send. */
export interface Outcome {
  readonly reason: Reason
  /** HTTP status of the response; `null` if there was none. */
  readonly httpStatus: number | null
}

/** A delivery. */
export interface Delivery {
  readonly id: DeliveryId
  readonly event: EventId
  readonly endpoint: EndpointId
  /** Type of the event. */
  readonly type: string
  /** Subject of the event, such as the id of an order; `null` if it has none. */
  readonly subject: string | null
  readonly status: DeliveryStatus
  /** Number of failed sends since it was published or resent. */
  readonly failedSends: number
  readonly createdAt: DateTime.Utc
  /** When the next send is due or the lease ends; `null` unless pending. */
  readonly dueAt: DateTime.Utc | null
}

/** A line of an endpoint's log. */
export interface Send extends Outcome {
  readonly delivery: DeliveryId
  /** Type of the event. */
  readonly type: string
  /** Number of the send since the delivery was published or resent, from 1. */
  readonly attempt: number
  /** When the send began. */
  readonly at: DateTime.Utc
  readonly durationMillis: number
}

/** A fencing token: a claim holds until the delivery is claimed again, settled or released. */
export interface Claim {
  readonly delivery: DeliveryId
  /** Number of claims of the delivery so far, this one included. */
  readonly claims: number
}

/** A claimed delivery with everything that a send needs. */
export interface Claimed extends Claim {
  readonly endpoint: Endpoint
  /** Active secrets, newest first. */
  readonly secrets: ReadonlyArray<SealedSecret>
  readonly event: Event
  /** When the delivery was due before the claim. */
  readonly dueAt: DateTime.Utc
  /**
   * Number of claims since the delivery was published or resent, without released ones and
   * including this one. After a crash it is unknown whether a claim led to a send.
   */
  readonly attempt: number
  /** Number of sends since the delivery was published or resent that are known to have failed. */
  readonly failedSends: number
  /** Body of the first send, which every later send repeats; `null` before the first send. */
  readonly body: Uint8Array | null
}
