/** Webhook endpoints, deliveries and sends, as operators see them. */
import { Schema } from "effect"
import { DateTime, Int64 } from "./Scalar.ts"
import { EventType } from "./Webhook.ts"

/** The longest overlap of a rotation, in seconds: a day (D47). */
export const overlapSecondsMax = 86_400

/** Event types that are sent to an endpoint; `null`: all. */
export const EventTypes = Schema.NullOr(Schema.Array(EventType).check(Schema.isMinLength(1)))

/** Registers an endpoint. */
export const CreateWebhookEndpointRequest = Schema.Struct({
  /** HTTPS, port 443 or 8443, a public address. */
  url: Schema.String,
  /** Default all. */
  types: Schema.optionalKey(EventTypes)
}).annotate({ identifier: "CreateWebhookEndpointRequest" })
/** See the schema of the same name. */
export type CreateWebhookEndpointRequest = typeof CreateWebhookEndpointRequest.Type

/** Whether events are sent to an endpoint. */
export const WebhookEndpointStatus = Schema.Literals(["enabled", "disabled"])

/** Changes an endpoint; what is absent stays. */
export const UpdateWebhookEndpointRequest = Schema.Struct({
  url: Schema.optionalKey(Schema.String),
  types: Schema.optionalKey(EventTypes),
  status: Schema.optionalKey(WebhookEndpointStatus)
}).annotate({ identifier: "UpdateWebhookEndpointRequest" })
/** See the schema of the same name. */
export type UpdateWebhookEndpointRequest = typeof UpdateWebhookEndpointRequest.Type

/** Issues a new secret. */
export const RotateWebhookSecretRequest = Schema.Struct({
  /** How long the secrets before sign beside the new one: 0, the default, to 86 400. */
  overlap_seconds: Schema.optionalKey(
    Int64.check(Schema.isBetween({ minimum: 0, maximum: overlapSecondsMax }))
  )
}).annotate({ identifier: "RotateWebhookSecretRequest" })
/** See the schema of the same name. */
export type RotateWebhookSecretRequest = typeof RotateWebhookSecretRequest.Type

const endpoint = {
  id: Schema.String,
  /** As it is kept: absolute, its host in lower case. */
  url: Schema.String,
  /** Event types that are sent there; `null`: all. */
  types: Schema.NullOr(Schema.Array(Schema.String)),
  status: WebhookEndpointStatus,
  created_at: DateTime,
  /** When the secret was issued that signs now. */
  secret_created_at: DateTime
}

/** An endpoint, without its secret. */
export const AdminWebhookEndpoint = Schema.Struct(endpoint).annotate({ identifier: "AdminWebhookEndpoint" })
/** See the schema of the same name. */
export type AdminWebhookEndpoint = typeof AdminWebhookEndpoint.Type

/** The endpoints of an account, oldest first. */
export const AdminWebhookEndpointList = Schema.Struct({ data: Schema.Array(AdminWebhookEndpoint) }).annotate({
  identifier: "AdminWebhookEndpointList"
})

/** An endpoint with the secret that was just issued for it, which is shown this once. */
export const AdminNewWebhookSecret = Schema.Struct({
  ...endpoint,
  /** `whsec_…`, the whole of which is the key of the signature. */
  secret: Schema.String
}).annotate({ identifier: "AdminNewWebhookSecret" })
/** See the schema of the same name. */
export type AdminNewWebhookSecret = typeof AdminNewWebhookSecret.Type

/** One event for one endpoint. */
export const AdminWebhookDelivery = Schema.Struct({
  /** What the body's `id` and `X-Service-Delivery` are in every send. */
  id: Schema.String,
  event_id: Schema.String,
  endpoint_id: Schema.String,
  type: Schema.String,
  status: Schema.Literals(["pending", "delivered", "failed"]),
  /** Sends that failed since the event happened, or since it was sent again by hand. */
  failed_sends: Int64,
  created_at: DateTime,
  /** When it is sent next; `null` unless pending. */
  due_at: Schema.NullOr(DateTime)
}).annotate({ identifier: "AdminWebhookDelivery" })
/** See the schema of the same name. */
export type AdminWebhookDelivery = typeof AdminWebhookDelivery.Type

/** Deliveries, newest first. */
export const AdminWebhookDeliveryList = Schema.Struct({ data: Schema.Array(AdminWebhookDelivery) }).annotate({
  identifier: "AdminWebhookDeliveryList"
})

/** One HTTP request of a delivery, or why there was none. */
export const AdminWebhookSend = Schema.Struct({
  delivery_id: Schema.String,
  type: Schema.String,
  /** 1 for the first send of a delivery, and for the first after it was sent again by hand. */
  attempt: Int64,
  at: DateTime,
  duration_ms: Int64,
  /** `null`: no answer came. */
  http_status: Schema.NullOr(Int64),
  /** `ok`, `status_<code>`, `timeout`, `dns`, `connect`, `tls`, `blocked_address`, `redirect`, `protocol` or `disabled` (D45). */
  reason: Schema.String
}).annotate({ identifier: "AdminWebhookSend" })
/** See the schema of the same name. */
export type AdminWebhookSend = typeof AdminWebhookSend.Type

/** The last sends of an endpoint, newest first. */
export const AdminWebhookSendList = Schema.Struct({ data: Schema.Array(AdminWebhookSend) }).annotate({
  identifier: "AdminWebhookSendList"
})
