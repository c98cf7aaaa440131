/** The `webhooks` of the OpenAPI document: what is sent to an account's endpoints, and not to this service. */
import type { EventType } from "../Webhook.ts"

/** The event types as OpenAPI 3.1 describes webhooks, each by its name. The bodies are components. */
export const webhooks = (): Readonly<Record<string, object>> => ({
  ...Object.fromEntries(
    Object.entries(summaries).map(([type, summary]) => [type, { post: operationOf(type, summary, "WebhookEvent") }])
  ),
  "webhook.test": { post: operationOf("webhook.test", "Somebody tests the endpoint", "WebhookTest") }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const summaries: Readonly<Record<EventType, string>> = {
  "generation.started": "A job was started",
  "generation.completed": "A job completed",
  "generation.failed": "A job failed and was refunded"
}

const header = (name: string, description: string, schema: object = {}) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", ...schema }
})

const operationOf = (type: string, summary: string, body: string) => ({
  tags: ["webhooks"],
  operationId: `webhooks.${type}`,
  summary,
  description:
    "Sent at most 4 times: at once, and 10, 60 and 300 seconds after a send that failed. The same event can " +
    "arrive more than once, always with the same `id`.",
  security: [],
  parameters: [
    header("User-Agent", "Who sends.", { const: "Service-Webhooks/1.0" }),
    header("X-Service-Event", "The `type` of the body.", { const: type }),
    header("X-Service-Delivery", "The `id` of the body."),
    header(
      "X-Service-Signature",
      "`t` is the Unix time of this send, `v1` the lower-case hex of HMAC-SHA256 over `t`, a full stop and the raw " +
        "bytes of the body, keyed with the whole secret of the endpoint. Any of several `v1` may match.",
      { pattern: "^t=\\d+(,v1=[0-9a-f]{64})+$" }
    )
  ],
  requestBody: {
    required: true,
    content: {
      "application/json": { schema: { $ref: `#/components/schemas/${body}` } }
    }
  },
  responses: {
    "2XX": { description: "Taken, within 10 seconds. Nothing is read of the body." },
    "default": { description: "Not taken, as with no answer or a redirect: it is sent again." }
  }
})
