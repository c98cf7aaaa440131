/** The part of the API of the console that is about webhooks. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ConsoleAuth } from "./Access.ts"
import { AdminWebhookEndpointList } from "./AdminWebhook.ts"
import { browse, changeErrors, submit } from "./internal/consoleOperation.ts"
import { parameter } from "./internal/fields.ts"
import { creation, deliveryOperations, endpointOperations } from "./internal/webhookOperations.ts"
import * as Policy from "./RequestPolicy.ts"

const endpoints = "/webhook-endpoints"
const endpoint = `${endpoints}/:id` as const
const endpointId = { id: parameter("The id of the webhook endpoint, `whep_…`.") }

const reading = Policy.browsing("viewer")
const managing = Policy.browsing("member")

const paths = {
  endpoint,
  endpointId,
  resend: `${endpoint}/deliveries/:delivery_id/resend`,
  deliveryId: { ...endpointId, delivery_id: parameter("The id of the delivery, `dlv_…`.") }
} as const

const declarations = { reading, managing, supporting: managing, changeErrors }

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
    creation.summary,
    creation.description,
    ["invalid_webhook_url", "too_many_endpoints"],
    (error) => HttpApiEndpoint.post("createWebhookEndpoint", endpoints, { ...creation.schemas, error })
  ),
  ...endpointOperations(declarations, paths),
  ...deliveryOperations(declarations, paths)
).middleware(ConsoleAuth).annotate(OpenApi.Description, "Manage the webhook endpoints of the account.") {}
