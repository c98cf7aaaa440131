/** The part of the operator API that is about webhooks. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminWebhookEndpointList } from "./AdminWebhook.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { parameter } from "./internal/fields.ts"
import { account, accountId } from "./internal/paths.ts"
import { creation, deliveryOperations, endpointOperations, recoveryOperations } from "./internal/webhookOperations.ts"
import * as Policy from "./RequestPolicy.ts"

const endpoints = `${account}/webhook-endpoints` as const

const paths = {
  endpoint: `${endpoints}/:endpoint_id`,
  endpointId: { ...accountId, endpoint_id: parameter("The id of the webhook endpoint, `whep_…`.") },
  resend: `${account}/webhook-deliveries/:delivery_id/resend`,
  deliveryId: { ...accountId, delivery_id: parameter("The id of the delivery, `dlv_…`.") }
} as const

const declarations = {
  reading: Policy.operating("auditor"),
  revealing: Policy.operating("support"),
  managing: Policy.operating("operator"),
  supporting: Policy.operating("support"),
  changeErrors: []
}

/** Manages webhook endpoints and their deliveries. */
export class AdminWebhooks extends HttpApiGroup.make("webhooks").add(
  configure(
    "operator",
    creation.summary,
    creation.description,
    ["invalid_webhook_url", "not_found", "too_many_endpoints"],
    (error) =>
      HttpApiEndpoint.post("createWebhookEndpoint", endpoints, { params: accountId, ...creation.schemas, error })
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
  ...endpointOperations(
    declarations,
    paths,
    " Any other change than to disable the endpoint needs the role `operator`."
  ),
  ...deliveryOperations(declarations, paths),
  ...recoveryOperations(declarations, paths)
).annotate(OpenApi.Description, "Manage webhook endpoints and their deliveries.") {}
