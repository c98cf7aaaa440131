/**
 * One event for one endpoint, and what becomes of it.
 *
 *     (published) ──▶ pending ──▶ delivered    a send was answered with 2xx
 *                      ▲   │
 *           send again │   └────▶ failed       the last send of the schedule failed, the endpoint
 *                      │                       is disabled, or it is too old
 *          delivered, failed
 *
 * A pending delivery has a time at which it is due. Whoever claims it moves that time
 * to the end of a lease, so a delivery whose process died is due again by itself.
 */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"
import type { Endpoint, EndpointId, SealedSecret } from "./Endpoint.ts"
import type { Event, EventId } from "./Event.ts"

/** `dlv_…` (D2, D43): one per event and endpoint, the same in every send. */
export const DeliveryId = TypeId.define("dlv", "DeliveryId")
/** See the value of the same name. */
export type DeliveryId = TypeId.Id<"DeliveryId">

/** See the diagram of the module. */
export const DeliveryStatus = Schema.Literals(["pending", "delivered", "failed"])
/** See the schema of the same name. */
export type DeliveryStatus = typeof DeliveryStatus.Type

/** What became of a send, or why there was none (D45); any other status is `status_<code>`. */
export const Reason = Schema.Union([
  Schema.Literals(["ok", "timeout", "dns", "connect", "tls", "blocked_address", "redirect", "protocol", "disabled"]),
  Schema.TemplateLiteral(["status_", Schema.Int])
])
/** See the schema of the same name. */
export type Reason = typeof Reason.Type

/** What became of a send, in short. */
export interface Outcome {
  readonly reason: Reason
  /** The answer's HTTP status; `null`: none came. */
  readonly httpStatus: number | null
}

/** What is known of a delivery. */
export interface Delivery {
  readonly id: DeliveryId
  readonly event: EventId
  readonly endpoint: EndpointId
  readonly type: string
  readonly status: DeliveryStatus
  /** Sends that failed, since it was published or sent again by hand. */
  readonly failedSends: number
  readonly createdAt: DateTime.Utc
  /** When it is due, or when its lease ends; `null` unless pending. */
  readonly dueAt: DateTime.Utc | null
}

/** A line of an endpoint's log. */
export interface Send extends Outcome {
  readonly delivery: DeliveryId
  readonly type: string
  /** 1 for the first send of a delivery, and for the first after it was sent again by hand. */
  readonly attempt: number
  /** When it began. */
  readonly at: DateTime.Utc
  readonly durationMillis: number
}

/** Proof that a delivery is still the caller's: how often it has ever been claimed, the caller's time included. */
export interface Claim {
  readonly delivery: DeliveryId
  readonly claims: number
}

/** A delivery that was claimed, with everything that a send needs. */
export interface Claimed extends Claim {
  readonly endpoint: Endpoint
  /** Newest first, without those that are over. */
  readonly secrets: ReadonlyArray<SealedSecret>
  readonly event: Event
  /** When it was due, before this claim moved that. */
  readonly dueAt: DateTime.Utc
  /**
   * Claims of this series with this one, without those that were given back. Each may
   * have been a send, also one of which nobody knows the outcome because its process died.
   */
  readonly attempt: number
  /** Sends of this series that are known to have failed. */
  readonly failedSends: number
  /** The bytes of its first send, which every later one repeats (D43); `null` before. */
  readonly body: Uint8Array | null
}
