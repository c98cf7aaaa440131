/** The bodies of webhooks. */
import { Schema } from "effect"
import { Generation } from "./Generation.ts"
import { field, object, text, time } from "./internal/fields.ts"

/** The types of events. */
export const EventType = Schema.Literals(["generation.started", "generation.completed", "generation.failed"])
/** See the schema of the same name. */
export type EventType = typeof EventType.Type

const id = text("The id of the delivery, `dlv_…`. Every attempt has the same id, so receivers can detect duplicates.")

/** The body of a webhook. Verify its signature before reading it. */
export const WebhookEvent = object("WebhookEvent", "The body of a webhook.", {
  id,
  type: field(EventType, "The type of the event."),
  created_at: time("When the event happened."),
  data: field(
    Schema.Struct({
      generation: field(Generation, "The job when the event happened. Its URLs expire an hour after the first attempt.")
    }),
    "The subject of the event."
  )
})
/** See the schema of the same name. */
export type WebhookEvent = typeof WebhookEvent.Type

/** The body of a test event. */
export const WebhookTest = object("WebhookTest", "The body of a test event.", {
  id,
  type: field(Schema.Literal("webhook.test"), "The type of the event."),
  created_at: time("When the test was requested."),
  data: field(Schema.Record(Schema.String, Schema.Json), "Always empty.")
})
/** See the schema of the same name. */
export type WebhookTest = typeof WebhookTest.Type
