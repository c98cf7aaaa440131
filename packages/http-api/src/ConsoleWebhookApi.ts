/** The part of the API of the console that is about webhooks. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConsoleKeyAuth } from "./Access.ts"
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
import { alter, browse, submit } from "./internal/consoleOperation.ts"
import { optionalParameter, parameter } from "./internal/fields.ts"
import { shownOnce } from "./internal/shownOnce.ts"
import * as Policy from "./RequestPolicy.ts"
import { PageSize } from "./Scalar.ts"

const endpointId = { id: parameter("The id of the webhook endpoint, `whep_…`.") }
const deliveryId = { ...endpointId, delivery_id: parameter("The id of the delivery, `dlv_…`.") }

const endpoints = "/webhook-endpoints"
const endpoint = `${endpoints}/:id` as const

const reading = Policy.browsingWithKey("viewer", "webhooks")
const managing = Policy.browsingWithKey("member", "webhooks")

/** Manages the webhook endpoints of the account and their deliveries. */
export class ConsoleWebhooks extends HttpApiGroup.make("webhooks").add(
  browse(
    reading,
    "List the webhook endpoints",
    "Oldest first.",
    [],
    (error) => HttpApiEndpoint.get("listWebhookEndpoints", endpoints, { success: AdminWebhookEndpointList, error })
  ),
  submit(
    managing,
    "Create a webhook endpoint",
    "At most 5 per account. Only this response contains the secret. The URL must be HTTPS on port 443 or 8443, without " +
      "user information, at a public address that is not the service's own.",
    ["invalid_webhook_url", "too_many_endpoints"],
    (error) =>
      HttpApiEndpoint.post("createWebhookEndpoint", endpoints, {
        payload: CreateWebhookEndpointRequest,
        success: shownOnce(AdminNewWebhookSecret.pipe(HttpApiSchema.status(201))),
        error
      })
  ),
  browse(
    reading,
    "Get a webhook endpoint",
    undefined,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("getWebhookEndpoint", endpoint, { params: endpointId, success: AdminWebhookEndpoint, error })
  ),
  submit(
    managing,
    "Update a webhook endpoint",
    "A new URL is checked like that of a new endpoint; pending deliveries use it too. While the endpoint is `disabled`, " +
      "events are dropped and due deliveries fail.",
    ["invalid_webhook_url", "not_found"],
    (error) =>
      HttpApiEndpoint.patch("updateWebhookEndpoint", endpoint, {
        params: endpointId,
        payload: UpdateWebhookEndpointRequest,
        success: AdminWebhookEndpoint,
        error
      })
  ),
  alter(
    managing,
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
  submit(
    managing,
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
  alter(
    managing,
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
  browse(
    reading,
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
  browse(
    reading,
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
  alter(
    managing,
    "Resend a delivery",
    "Sends an ended delivery again under its id, with up to 4 attempts. The body is built anew, so its URLs are valid for " +
      "another hour.",
    ["not_found", "delivery_pending", "endpoint_disabled"],
    (error) =>
      HttpApiEndpoint.post("resendWebhookDelivery", `${endpoint}/deliveries/:delivery_id/resend`, {
        params: deliveryId,
        success: AdminWebhookDelivery.pipe(HttpApiSchema.status(202)),
        error
      })
  )
).middleware(ConsoleKeyAuth).annotate(
  OpenApi.Description,
  "Manage the webhook endpoints of the account, with a session or with an API key that has the scope `webhooks`."
) {}
