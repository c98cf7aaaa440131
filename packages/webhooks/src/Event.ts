/** Events: what happened in the embedding service. */
import { TypeId } from "@kinora/persistence"
import type { DateTime, Schema } from "effect"

/** Ids of events, such as `evt_01k…`. */
export const EventId = TypeId.define("evt", "EventId")
/** Id of an event. */
export type EventId = TypeId.Id<"EventId">

/** An event to publish. */
export interface NewEvent {
  /** The account whose endpoints receive the event. */
  readonly account: string
  /** Type such as `order.paid`: 1 to 64 of `a-z`, `0-9`, `_`, `.`. An invalid type is a defect. */
  readonly type: string
  /**
   * Snapshot of what happened. It is the `data` of the body, unless
   * `DeliveryWorkerOptions.complete` makes another one from it on the first send.
   */
  readonly data: Schema.Json
}

/** A published event. */
export interface Event extends NewEvent {
  readonly id: EventId
  readonly createdAt: DateTime.Utc
}

/** Type of the event that `Webhooks.test` sends. */
export const testType = "webhook.test"
