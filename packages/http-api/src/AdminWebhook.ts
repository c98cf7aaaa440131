/** Webhook endpoints, deliveries and attempts in the admin API. */
import { Schema } from "effect"
import { field, int, list, nullable, object, optional, requestTime, text, time } from "./internal/fields.ts"
import { overlapRequest } from "./internal/overlapRequest.ts"
import { DateTime, Int64 } from "./Scalar.ts"
import { EventType } from "./Webhook.ts"

/** The maximum overlap of a rotation in seconds: one day. */
export const overlapSecondsMax = 86_400

/** The event types of an endpoint; `null` means all. */
export const EventTypes = Schema.NullOr(Schema.Array(EventType).check(Schema.isMinLength(1)))

const url = "The URL: HTTPS, port 443 or 8443, a public address."

/** Creates an endpoint. */
export const CreateWebhookEndpointRequest = object("CreateWebhookEndpointRequest", "The webhook endpoint to create.", {
  url: text(url),
  types: optional(EventTypes, "The event types to send. Default: `null`, all types.")
})

/** Whether events are sent to an endpoint. */
export const WebhookEndpointStatus = Schema.Literals(["enabled", "disabled"])

/** Changes an endpoint. */
export const UpdateWebhookEndpointRequest = object(
  "UpdateWebhookEndpointRequest",
  "The properties to change. Absent properties do not change.",
  {
    url: optional(Schema.String, url),
    types: optional(EventTypes, "The event types to send; `null` for all types."),
    status: optional(WebhookEndpointStatus, "Whether to send events.")
  }
)
/** See the schema of the same name. */
export type UpdateWebhookEndpointRequest = typeof UpdateWebhookEndpointRequest.Type

/** Creates a new secret for an endpoint. */
export const RotateWebhookSecretRequest = overlapRequest(
  "RotateWebhookSecretRequest",
  "How to rotate the secret.",
  overlapSecondsMax,
  "How long the current secrets stay active beside the new one. Default: 0."
)

const endpoint = {
  id: text("The id of the endpoint, `whep_…`."),
  url: text("The URL, normalized: absolute, with a lower-case host."),
  types: nullable(Schema.Array(Schema.String), "The event types that are sent; `null` for all types."),
  status: field(WebhookEndpointStatus, "Whether events are sent."),
  created_at: time("When the endpoint was created."),
  secret_created_at: time("When the newest secret was created.")
}

/** An endpoint, without its secrets. */
export const AdminWebhookEndpoint = object(
  "AdminWebhookEndpoint",
  "A webhook endpoint, without its secrets.",
  endpoint
)
/** See the schema of the same name. */
export type AdminWebhookEndpoint = typeof AdminWebhookEndpoint.Type

/** The endpoints of an account. */
export const AdminWebhookEndpointList = object("AdminWebhookEndpointList", "The webhook endpoints of an account.", {
  data: list(AdminWebhookEndpoint, "The endpoints, oldest first.")
})

/** An endpoint with its new secret. */
export const AdminNewWebhookSecret = object("AdminNewWebhookSecret", "A webhook endpoint with its new secret.", {
  ...endpoint,
  secret: text("The secret, `whsec_…`. The whole text is the key of the signature. Only this response contains it.")
})
/** See the schema of the same name. */
export type AdminNewWebhookSecret = typeof AdminNewWebhookSecret.Type

/** One event for one endpoint. */
export const AdminWebhookDelivery = object("AdminWebhookDelivery", "One event for one webhook endpoint.", {
  id: text("The id of the delivery: `id` of the body and `X-Service-Delivery` of every attempt."),
  event_id: text("The id of the event."),
  endpoint_id: text("The id of the endpoint."),
  type: text("The type of the event."),
  subject: nullable(
    Schema.String,
    "The id of the job that the event is about, `gen_…`; `null` for test events and those that an earlier version published."
  ),
  status: field(Schema.Literals(["pending", "delivered", "failed"]), "The state of the delivery."),
  failed_sends: int("Failed attempts since the event happened, or since the delivery was last resent."),
  created_at: time("When the event happened."),
  due_at: nullable(DateTime, "When the next attempt is due; `null` unless pending.")
})
/** See the schema of the same name. */
export type AdminWebhookDelivery = typeof AdminWebhookDelivery.Type

/** A delivery with its event. */
export const WebhookDeliveryDetail = object("WebhookDeliveryDetail", "A delivery with the body of its event.", {
  id: text("The id of the delivery."),
  payload: field(
    Schema.Json,
    "The body as it would be sent now: the bytes of a repeated attempt have the URLs of the first one."
  )
})

/** Sends failed deliveries again. */
export const ResendFailedRequest = object("ResendFailedRequest", "The failed deliveries to send again.", {
  since: requestTime("Deliveries of events before this time are not sent again.")
})
/** See the schema of the same name. */
export type ResendFailedRequest = typeof ResendFailedRequest.Type

/** The numbers of deliveries that are sent again. */
export const ResentDeliveries = object("ResentDeliveries", "Deliveries that are sent again.", {
  resent: int("The deliveries that are sent again."),
  left: int("Failed deliveries since the time that are left, because the account would have too many pending ones.")
})

/** Deliveries, newest first. */
export const AdminWebhookDeliveryList = object("AdminWebhookDeliveryList", "A page of deliveries, newest first.", {
  data: list(AdminWebhookDelivery, "The deliveries.")
})

/** One attempt of a delivery. */
export const AdminWebhookSend = object("AdminWebhookSend", "One attempt of a delivery.", {
  delivery_id: text("The id of the delivery."),
  type: text("The type of the event."),
  attempt: int("The number of the attempt, from 1. It restarts when the delivery is resent."),
  at: time("When the attempt started."),
  duration_ms: int("How long the attempt took in milliseconds."),
  http_status: nullable(Int64, "The HTTP status of the response; `null` without a response."),
  reason: text(
    "The outcome: `ok`, `status_<code>`, `timeout`, `dns`, `connect`, `tls`, `blocked_address`, `redirect`, " +
      "`protocol` or `disabled`."
  )
})
/** See the schema of the same name. */
export type AdminWebhookSend = typeof AdminWebhookSend.Type

/** The last attempts of an endpoint, newest first. */
export const AdminWebhookSendList = object("AdminWebhookSendList", "The last attempts of an endpoint, newest first.", {
  data: list(AdminWebhookSend, "The attempts.")
})
