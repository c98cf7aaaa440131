/** The `webhooks` of the OpenAPI document: requests that the service sends to the endpoints of accounts. */
import type { EventType } from "../Webhook.ts"

/** Describes every event type. The bodies are components of the document. */
export const webhooks = (): Readonly<Record<string, object>> => ({
  ...Object.fromEntries(
    Object.entries(summaries).map(([type, summary]) => [type, { post: operationOf(type, summary, "WebhookEvent") }])
  ),
  "webhook.test": { post: operationOf("webhook.test", "The endpoint is tested", "WebhookTest") }
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
    "At most 4 attempts: immediately, and 10, 60 and 300 seconds after a failed attempt. The same event can arrive " +
    "more than once, always with the same `id`.",
  security: [],
  parameters: [
    header("User-Agent", "The sender.", { const: "Service-Webhooks/1.0" }),
    header("X-Service-Event", "The `type` of the body.", { const: type }),
    header("X-Service-Delivery", "The `id` of the body."),
    header(
      "X-Service-Signature",
      "`t` is the Unix time of this attempt, `v1` the lower-case hex of HMAC-SHA256 over `t`, a full stop and the raw " +
        "bytes of the body, keyed with the whole secret of the endpoint. One of several `v1` must match.",
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
    "2XX": { description: "Accepted. Must arrive within 10 seconds; the body is not read." },
    "default": { description: "Rejected, like no response and redirects: the service retries." }
  }
})
