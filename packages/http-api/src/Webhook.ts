/** What is sent to an account's webhook endpoints: the bodies of its events. */
import { Schema } from "effect"
import { Generation } from "./Generation.ts"
import { DateTime } from "./Scalar.ts"

/** What an account is told of. */
export const EventType = Schema.Literals(["generation.started", "generation.completed", "generation.failed"])
/** See the schema of the same name. */
export type EventType = typeof EventType.Type

/** The body of a webhook, once its signature was verified. */
export const WebhookEvent = Schema.Struct({
  /** Of the delivery, `dlv_…`: the same each time that an event is sent to this endpoint, so that duplicates can be told. */
  id: Schema.String,
  type: EventType,
  /** When it happened. */
  created_at: DateTime,
  data: Schema.Struct({
    /** The job as it was then. Its links are good for an hour from the first send. */
    generation: Generation
  })
}).annotate({ identifier: "WebhookEvent" })
/** See the schema of the same name. */
export type WebhookEvent = typeof WebhookEvent.Type

/** The body of the event that somebody has sent to see whether an endpoint takes it (D48). */
export const WebhookTest = Schema.Struct({
  id: Schema.String,
  type: Schema.Literal("webhook.test"),
  created_at: DateTime,
  /** Empty. */
  data: Schema.Record(Schema.String, Schema.Json)
}).annotate({ identifier: "WebhookTest" })
/** See the schema of the same name. */
export type WebhookTest = typeof WebhookTest.Type
