/** The operations on webhook endpoints that the operator API and the API of the console have in common. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import {
  AdminNewWebhookSecret,
  AdminWebhookDelivery,
  AdminWebhookDeliveryList,
  AdminWebhookEndpoint,
  AdminWebhookSendList,
  CreateWebhookEndpointRequest,
  ResendFailedRequest,
  ResentDeliveries,
  RotateWebhookSecretRequest,
  UpdateWebhookEndpointRequest,
  WebhookDeliveryDetail
} from "../AdminWebhook.ts"
import type { AnyErrorCode } from "../ErrorCode.ts"
import type { Policy } from "../RequestPolicy.ts"
import { PageSize } from "../Scalar.ts"
import { bodyErrors } from "./errorCodes.ts"
import { optionalParameter, parameter } from "./fields.ts"
import { operation } from "./operation.ts"
import { shownOnce } from "./shownOnce.ts"

type Path = `/${string}`

/** How an API declares the operations. */
export interface WebhookDeclarations {
  /** The policy of operations that change nothing. */
  readonly reading: Policy
  /** The policy of reading the body of a delivery, which has signed URLs of results. */
  readonly revealing: Policy
  /** The policy of changes. */
  readonly managing: Policy
  /** The policy of updates of endpoints and of repetitions of deliveries. */
  readonly supporting: Policy
  /** The codes of middleware with which changes respond. */
  readonly changeErrors: ReadonlyArray<AnyErrorCode>
}

/** The path of one endpoint, and its parameters. */
export interface EndpointPath<Endpoint extends Path, EndpointId extends Schema.Struct.Fields> {
  readonly endpoint: Endpoint
  readonly endpointId: EndpointId
}

/** The path that repeats a delivery, and its parameters. */
export interface ResendPath<Resend extends Path, DeliveryId extends Schema.Struct.Fields> {
  readonly resend: Resend
  readonly deliveryId: DeliveryId
}

/** The declaration of the creation of an endpoint, without its path. */
export const creation = {
  summary: "Create a webhook endpoint",
  description:
    "At most 5 per account. Only this response contains the secret. The URL must be HTTPS on port 443 or 8443, without " +
    "user information, at a public address that is not the service's own.",
  schemas: {
    payload: CreateWebhookEndpointRequest,
    success: shownOnce(AdminNewWebhookSecret.pipe(HttpApiSchema.status(201)))
  }
}

/** Declares the operations that read and change one endpoint. `updates` adds to the description of its update. */
export const endpointOperations = <const Endpoint extends Path, EndpointId extends Schema.Struct.Fields>(
  { changeErrors, managing, reading, supporting }: WebhookDeclarations,
  { endpoint, endpointId }: EndpointPath<Endpoint, EndpointId>,
  updates = ""
) =>
  [
    operation(
      {
        policy: reading,
        errors: ["not_found"],
        summary: "Get a webhook endpoint",
        description: "An endpoint without its secrets."
      },
      (error) =>
        HttpApiEndpoint.get("getWebhookEndpoint", endpoint, {
          params: endpointId,
          success: AdminWebhookEndpoint,
          error
        })
    ),
    operation({
      policy: { ...supporting, body: "json" },
      errors: ["invalid_webhook_url", "not_found", ...bodyErrors],
      more: changeErrors,
      summary: "Update a webhook endpoint",
      description:
        "A new URL is checked like that of a new endpoint; pending deliveries use it too. While the endpoint is " +
        `\`disabled\`, events are dropped and due deliveries fail.${updates}`
    }, (error) =>
      HttpApiEndpoint.patch("updateWebhookEndpoint", endpoint, {
        params: endpointId,
        payload: UpdateWebhookEndpointRequest,
        success: AdminWebhookEndpoint,
        error
      })),
    operation({
      policy: managing,
      errors: ["not_found"],
      more: changeErrors,
      summary: "Delete a webhook endpoint",
      description: "Deletes its deliveries and attempts too."
    }, (error) =>
      HttpApiEndpoint.delete("removeWebhookEndpoint", endpoint, {
        params: endpointId,
        success: HttpApiSchema.NoContent,
        error
      })),
    operation({
      policy: { ...managing, body: "json" },
      errors: ["not_found", "too_many_secrets", ...bodyErrors],
      more: changeErrors,
      summary: "Rotate the secret",
      description:
        "Only this response contains the new secret. For `overlap_seconds` the earlier secrets sign too, so that the " +
        "receiver can switch; without an overlap they end at once."
    }, (error) =>
      HttpApiEndpoint.post("rotateWebhookSecret", `${endpoint}/rotate`, {
        params: endpointId,
        payload: RotateWebhookSecretRequest,
        success: shownOnce(AdminNewWebhookSecret),
        error
      }))
  ] as const

/** Declares the operations that send events to one endpoint, and list its deliveries and attempts. */
export const deliveryOperations = <
  const Endpoint extends Path,
  EndpointId extends Schema.Struct.Fields,
  const Resend extends Path,
  DeliveryId extends Schema.Struct.Fields
>(
  { changeErrors, managing, reading, supporting }: WebhookDeclarations,
  { deliveryId, endpoint, endpointId, resend }: EndpointPath<Endpoint, EndpointId> & ResendPath<Resend, DeliveryId>
) =>
  [
    operation({
      policy: managing,
      errors: ["not_found", "endpoint_disabled"],
      more: changeErrors,
      summary: "Send a test event",
      description: "An event of type `webhook.test` whose `data` is `{}`, whichever types the endpoint receives."
    }, (error) =>
      HttpApiEndpoint.post("testWebhookEndpoint", `${endpoint}/test`, {
        params: endpointId,
        success: AdminWebhookDelivery.pipe(HttpApiSchema.status(202)),
        error
      })),
    operation({
      policy: reading,
      errors: ["not_found"],
      summary: "List the last attempts of a webhook endpoint",
      description: "The last 20 with their HTTP status and outcome, newest first."
    }, (error) =>
      HttpApiEndpoint.get("listWebhookSends", `${endpoint}/sends`, {
        params: endpointId,
        success: AdminWebhookSendList,
        error
      })),
    operation({
      policy: reading,
      errors: ["not_found"],
      summary: "List the deliveries of a webhook endpoint",
      description:
        "Newest first. Pass the id of the last delivery as `before` for the next page. Ended deliveries are kept for 7 days."
    }, (error) =>
      HttpApiEndpoint.get("listWebhookDeliveries", `${endpoint}/deliveries`, {
        params: endpointId,
        query: {
          limit: Schema.optionalKey(PageSize),
          before: optionalParameter("Returns only deliveries older than this one, `dlv_…`.")
        },
        success: AdminWebhookDeliveryList,
        error
      })),
    operation({
      policy: supporting,
      errors: ["not_found", "delivery_pending", "endpoint_disabled"],
      more: changeErrors,
      summary: "Resend a delivery",
      description:
        "Sends an ended delivery again under its id, with up to 4 attempts. The body is built anew, so its URLs are valid " +
        "for another hour."
    }, (error) =>
      HttpApiEndpoint.post("resendWebhookDelivery", resend, {
        params: deliveryId,
        success: AdminWebhookDelivery.pipe(HttpApiSchema.status(202)),
        error
      }))
  ] as const

/** Declares the operations that read the body of a delivery, and send the failed ones of an endpoint again. */
export const recoveryOperations = <const Endpoint extends Path, EndpointId extends Schema.Struct.Fields>(
  { changeErrors, revealing, supporting }: WebhookDeclarations,
  { endpoint, endpointId }: EndpointPath<Endpoint, EndpointId>
) =>
  [
    operation({
      policy: revealing,
      errors: ["not_found"],
      summary: "Get a delivery with its body",
      description: "The body has the URLs of files as they would be sent now."
    }, (error) =>
      HttpApiEndpoint.get("getWebhookDelivery", `${endpoint}/deliveries/:delivery_id`, {
        params: { ...endpointId, delivery_id: parameter("The id of the delivery, `dlv_…`.") },
        success: WebhookDeliveryDetail,
        error
      })),
    operation({
      policy: { ...supporting, body: "json" },
      errors: ["not_found", "endpoint_disabled", ...bodyErrors],
      more: changeErrors,
      summary: "Resend failed deliveries",
      description:
        "Sends the failed deliveries of events since a time again, oldest first, until the account has 1,000 pending " +
        "deliveries. Repeat the request for those that are left."
    }, (error) =>
      HttpApiEndpoint.post("resendFailedDeliveries", `${endpoint}/resend-failed`, {
        params: endpointId,
        payload: ResendFailedRequest,
        success: ResentDeliveries,
        error
      }))
  ] as const
