/** Events: what happened in the embedding service. */
import { TypeId } from "@kinora/persistence"
import type { DateTime, Schema } from "effect"

/** Ids of events, such as `evt_01k…`. */
export const EventId = TypeId.define("evt", "EventId")
/** Id of an event. */
export type EventId = TypeId.Id<"EventId">

/** The content of an event. */
interface Content {
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

/** An event to publish. */
export interface NewEvent extends Content {
  /** The thing that the event is about, such as the id of an order, for `Webhooks.history`. At most 128 characters. */
  readonly subject?: string | undefined
}

/** A published event. */
export interface Event extends Content {
  readonly id: EventId
  readonly createdAt: DateTime.Utc
}

/** Type of the event that `Webhooks.test` sends. */
export const testType = "webhook.test"

/**
 * Type of the event that `Webhooks.disableFailing` publishes to the other endpoints of the account. Its `data` has the id of the
 * `endpoint`, its `url`, and the time of the first failure, `failing_since`.
 */
export const disabledType = "webhook.disabled"
