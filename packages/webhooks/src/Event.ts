/** Something that happened, as an account is told of it. */
import { TypeId } from "@kinora/persistence"
import type { DateTime, Schema } from "effect"

/** `evt_…` (D2, D43). */
export const EventId = TypeId.define("evt", "EventId")
/** See the value of the same name. */
export type EventId = TypeId.Id<"EventId">

/** What the embedding service publishes. */
export interface NewEvent {
  /** Whose endpoints are told. */
  readonly account: string
  /** Such as `order.paid`: 1 to 64 of `a-z`, `0-9`, `_`, `.`. Another one is a defect. */
  readonly type: string
  /**
   * What happened, as a snapshot of the moment. It is the body's `data`, unless
   * `WebhooksOptions.complete` makes the body's `data` of it when it is first sent.
   */
  readonly data: Schema.Json
}

/** An event that some endpoint is told of. */
export interface Event extends NewEvent {
  readonly id: EventId
  readonly createdAt: DateTime.Utc
}

/** The type of the event that `Webhooks.test` sends (D48). */
export const testType = "webhook.test"
