/** The part of the operator API that is about webhooks. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AdminNewWebhookSecret,
  AdminWebhookDelivery,
  AdminWebhookDeliveryList,
  AdminWebhookEndpoint,
  AdminWebhookEndpointList,
  AdminWebhookSendList,
  CreateWebhookEndpointRequest,
  RotateWebhookSecretRequest,
  UpdateWebhookEndpointRequest
} from "./AdminWebhook.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { optionalParameter, parameter } from "./internal/fields.ts"
import { accountId } from "./internal/paths.ts"
import { shownOnce } from "./internal/shownOnce.ts"
import { PageSize } from "./Scalar.ts"

const endpointId = { ...accountId, endpoint_id: parameter("The id of the webhook endpoint, `whep_…`.") }
const deliveryId = { ...accountId, delivery_id: parameter("The id of the delivery, `dlv_…`.") }

const endpoints = "/accounts/:id/webhook-endpoints"
const endpoint = `${endpoints}/:endpoint_id` as const

/** Manages webhook endpoints and their deliveries. */
export class AdminWebhooks extends HttpApiGroup.make("webhooks").add(
  configure(
    "operator",
    "Create a webhook endpoint",
    "At most 5 per account. Only this response contains the secret. The URL must be HTTPS on port 443 or 8443, without " +
      "user information, at a public address that is not the service's own.",
    ["invalid_webhook_url", "not_found", "too_many_endpoints"],
    (error) =>
      HttpApiEndpoint.post("createWebhookEndpoint", endpoints, {
        params: accountId,
        payload: CreateWebhookEndpointRequest,
        success: shownOnce(AdminNewWebhookSecret.pipe(HttpApiSchema.status(201))),
        error
      })
  ),
  operate(
    "auditor",
    "List the webhook endpoints of an account",
    "Oldest first.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listWebhookEndpoints", endpoints, {
        params: accountId,
        success: AdminWebhookEndpointList,
        error
      })
  ),
  operate(
    "auditor",
    "Get a webhook endpoint",
    undefined,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("getWebhookEndpoint", endpoint, { params: endpointId, success: AdminWebhookEndpoint, error })
  ),
  configure(
    "support",
    "Update a webhook endpoint",
    "A new URL is checked like that of a new endpoint; pending deliveries use it too. While the endpoint is `disabled`, " +
      "events are dropped and due deliveries fail. Any other change than to disable the endpoint needs the role `operator`.",
    ["invalid_webhook_url", "not_found", "role_missing"],
    (error) =>
      HttpApiEndpoint.patch("updateWebhookEndpoint", endpoint, {
        params: endpointId,
        payload: UpdateWebhookEndpointRequest,
        success: AdminWebhookEndpoint,
        error
      })
  ),
  operate(
    "operator",
    "Delete a webhook endpoint",
    "Deletes its deliveries and attempts too.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("removeWebhookEndpoint", endpoint, {
        params: endpointId,
        success: HttpApiSchema.NoContent,
        error
      })
  ),
  configure(
    "operator",
    "Rotate the secret",
    "Only this response contains the new secret. For `overlap_seconds` the earlier secrets sign too, so that the receiver " +
      "can switch; without an overlap they end at once.",
    ["not_found", "too_many_secrets"],
    (error) =>
      HttpApiEndpoint.post("rotateWebhookSecret", `${endpoint}/rotate`, {
        params: endpointId,
        payload: RotateWebhookSecretRequest,
        success: shownOnce(AdminNewWebhookSecret),
        error
      })
  ),
  operate(
    "operator",
    "Send a test event",
    "An event of type `webhook.test` whose `data` is `{}`, whichever types the endpoint receives.",
    ["not_found", "endpoint_disabled"],
    (error) =>
      HttpApiEndpoint.post("testWebhookEndpoint", `${endpoint}/test`, {
        params: endpointId,
        success: AdminWebhookDelivery.pipe(HttpApiSchema.status(202)),
        error
      })
  ),
  operate(
    "auditor",
    "List the last attempts of a webhook endpoint",
    "The last 20 with their HTTP status and outcome, newest first.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listWebhookSends", `${endpoint}/sends`, {
        params: endpointId,
        success: AdminWebhookSendList,
        error
      })
  ),
  operate(
    "auditor",
    "List the deliveries of a webhook endpoint",
    "Newest first. Pass the id of the last delivery as `before` for the next page. Ended deliveries are kept for 7 days.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listWebhookDeliveries", `${endpoint}/deliveries`, {
        params: endpointId,
        query: {
          limit: Schema.optionalKey(PageSize),
          before: optionalParameter("Returns only deliveries older than this one, `dlv_…`.")
        },
        success: AdminWebhookDeliveryList,
        error
      })
  ),
  operate(
    "support",
    "Resend a delivery",
    "Sends an ended delivery again under its id, with up to 4 attempts. The body is built anew, so its URLs are valid for " +
      "another hour.",
    ["not_found", "delivery_pending", "endpoint_disabled"],
    (error) =>
      HttpApiEndpoint.post("resendWebhookDelivery", "/accounts/:id/webhook-deliveries/:delivery_id/resend", {
        params: deliveryId,
        success: AdminWebhookDelivery.pipe(HttpApiSchema.status(202)),
        error
      })
  )
).annotate(OpenApi.Description, "Manage webhook endpoints and their deliveries.") {}
