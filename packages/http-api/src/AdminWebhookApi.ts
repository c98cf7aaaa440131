/** The part of the interface for operators that is about webhooks (D50): endpoints, secrets, deliveries, sends. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AdminAuth } from "./AdminAccess.ts"
import { AdminConflictResponse, InvalidWebhookUrlResponse } from "./AdminError.ts"
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
import { NotFoundResponse, PayloadTooLargeResponse, UnsupportedMediaTypeResponse } from "./ApiError.ts"
import { shownOnce } from "./internal/shownOnce.ts"
import { PageSize } from "./Scalar.ts"

const id = { id: Schema.String }
const endpointId = { ...id, endpoint_id: Schema.String }
const deliveryId = { ...id, delivery_id: Schema.String }
const badBody = [PayloadTooLargeResponse, UnsupportedMediaTypeResponse] as const
const endpoints = "/accounts/:id/webhook-endpoints"
const endpoint = `${endpoints}/:endpoint_id` as const

/** Webhook endpoints of accounts. */
export class AdminWebhooks extends HttpApiGroup.make("webhooks").add(
  HttpApiEndpoint.post("createWebhookEndpoint", endpoints, {
    params: id,
    payload: CreateWebhookEndpointRequest,
    success: shownOnce(AdminNewWebhookSecret.pipe(HttpApiSchema.status(201))),
    error: [InvalidWebhookUrlResponse, NotFoundResponse, AdminConflictResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Register a webhook endpoint",
    description:
      "Up to 5 of an account. The secret is in this response only. The URL has to be HTTPS, on port 443 or " +
      "8443, without user information, at a public address that is not the service's own."
  })),
  HttpApiEndpoint.get("listWebhookEndpoints", endpoints, {
    params: id,
    success: AdminWebhookEndpointList,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "List the webhook endpoints of an account",
    description: "Oldest first."
  })),
  HttpApiEndpoint.get("getWebhookEndpoint", endpoint, {
    params: endpointId,
    success: AdminWebhookEndpoint,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({ summary: "Get a webhook endpoint" })),
  HttpApiEndpoint.patch("updateWebhookEndpoint", endpoint, {
    params: endpointId,
    payload: UpdateWebhookEndpointRequest,
    success: AdminWebhookEndpoint,
    error: [InvalidWebhookUrlResponse, NotFoundResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Change a webhook endpoint",
    description: "Its URL, which is checked as that of a new one and to which deliveries go from then on that are " +
      "pending; its event types; whether anything is sent. While it is `disabled` events are not kept for it, and " +
      "deliveries that become due fail."
  })),
  HttpApiEndpoint.delete("removeWebhookEndpoint", endpoint, {
    params: endpointId,
    success: HttpApiSchema.NoContent,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "Remove a webhook endpoint",
    description: "Nothing is sent there any more, and its deliveries and sends are gone."
  })),
  HttpApiEndpoint.post("rotateWebhookSecret", `${endpoint}/rotate`, {
    params: endpointId,
    payload: RotateWebhookSecretRequest,
    success: shownOnce(AdminNewWebhookSecret),
    error: [NotFoundResponse, AdminConflictResponse, ...badBody]
  }).annotateMerge(OpenApi.annotations({
    summary: "Issue a new secret",
    description: "It is in this response only, and signs what is sent from now on. For `overlap_seconds` the secrets " +
      "before sign beside it, so that a receiver can change to it in between; without an overlap they end at once."
  })),
  HttpApiEndpoint.post("testWebhookEndpoint", `${endpoint}/test`, {
    params: endpointId,
    success: AdminWebhookDelivery.pipe(HttpApiSchema.status(202)),
    error: [NotFoundResponse, AdminConflictResponse]
  }).annotateMerge(OpenApi.annotations({
    summary: "Send a test event",
    description: "An event of type `webhook.test` whose `data` is `{}`, whatever types the endpoint takes."
  })),
  HttpApiEndpoint.get("listWebhookSends", `${endpoint}/sends`, {
    params: endpointId,
    success: AdminWebhookSendList,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "List the last sends to a webhook endpoint",
    description: "The last 20 with HTTP status and a short reason, newest first."
  })),
  HttpApiEndpoint.get("listWebhookDeliveries", `${endpoint}/deliveries`, {
    params: endpointId,
    query: { limit: Schema.optionalKey(PageSize), before: Schema.optionalKey(Schema.String) },
    success: AdminWebhookDeliveryList,
    error: NotFoundResponse
  }).annotateMerge(OpenApi.annotations({
    summary: "List the deliveries of a webhook endpoint",
    description: "Newest first. The next page is asked for with the id of the last one as `before`. Those that have " +
      "ended are kept for 7 days."
  })),
  HttpApiEndpoint.post("resendWebhookDelivery", "/accounts/:id/webhook-deliveries/:delivery_id/resend", {
    params: deliveryId,
    success: AdminWebhookDelivery.pipe(HttpApiSchema.status(202)),
    error: [NotFoundResponse, AdminConflictResponse]
  }).annotateMerge(OpenApi.annotations({
    summary: "Send a delivery again",
    description: "One that has ended, delivered or failed, under its id, up to 4 times as at first. Its body is made " +
      "anew, so that its links are good for an hour again."
  }))
).middleware(AdminAuth).prefix("/admin/v1")
  .annotate(OpenApi.Description, "Where accounts are told what becomes of their jobs, and what was sent there.")
{}
