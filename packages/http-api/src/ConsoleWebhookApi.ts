/** The part of the API of the console that is about webhooks. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ConsoleKeyAuth } from "./Access.ts"
import { AdminWebhookEndpointList } from "./AdminWebhook.ts"
import { browse, changeErrors, submit } from "./internal/consoleOperation.ts"
import { parameter } from "./internal/fields.ts"
import { creation, deliveryOperations, endpointOperations, recoveryOperations } from "./internal/webhookOperations.ts"
import * as Policy from "./RequestPolicy.ts"

const endpoints = "/webhook-endpoints"
const endpoint = `${endpoints}/:id` as const
const endpointId = { id: parameter("The id of the webhook endpoint, `whep_…`.") }

const reading = Policy.browsingWithKey("viewer", "webhooks")
const managing = Policy.browsingWithKey("member", "webhooks")

const paths = {
  endpoint,
  endpointId,
  resend: `${endpoint}/deliveries/:delivery_id/resend`,
  deliveryId: { ...endpointId, delivery_id: parameter("The id of the delivery, `dlv_…`.") }
} as const

const declarations = { reading, revealing: reading, managing, supporting: managing, changeErrors }

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
  ...deliveryOperations(declarations, paths),
  ...recoveryOperations(declarations, paths)
).middleware(ConsoleKeyAuth).annotate(
  OpenApi.Description,
  "Manage the webhook endpoints of the account, with a session or with an API key that has the scope `webhooks`."
) {}
