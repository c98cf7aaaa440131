/** Webhook endpoints, deliveries and attempts in the operator API. */
import type * as Wire from "@kinora/http-api/AdminWebhook"
import type { Delivery, Send } from "@kinora/webhooks/Delivery"
import type { Endpoint } from "@kinora/webhooks/Endpoint"
import type { Issued } from "@kinora/webhooks/Webhooks"
import { Redacted } from "effect"

/** Converts an endpoint, without its secrets. */
export const endpointOf = (
  { createdAt, id, secretCreatedAt, status, types, url }: Endpoint
): Wire.AdminWebhookEndpoint => ({
  id,
  url,
  types,
  status,
  created_at: createdAt,
  secret_created_at: secretCreatedAt
})

/** Converts an endpoint with its new secret. */
export const issuedOf = ({ endpoint, secret }: Issued): Wire.AdminNewWebhookSecret => ({
  ...endpointOf(endpoint),
  secret: Redacted.value(secret)
})

/** Converts a delivery. */
export const deliveryOf = (
  { createdAt, dueAt, endpoint, event, failedSends, id, status, subject, type }: Delivery
): Wire.AdminWebhookDelivery => ({
  id,
  event_id: event,
  endpoint_id: endpoint,
  type,
  subject,
  status,
  failed_sends: failedSends,
  created_at: createdAt,
  due_at: dueAt
})

/** Converts an attempt of a delivery. */
export const sendOf = (
  { at, attempt, delivery, durationMillis, httpStatus, reason, type }: Send
): Wire.AdminWebhookSend => ({
  delivery_id: delivery,
  type,
  attempt,
  at,
  duration_ms: Math.round(durationMillis),
  http_status: httpStatus,
  reason
})
