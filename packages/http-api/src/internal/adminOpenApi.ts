/** Completes the OpenAPI document for operators where the generator cannot know what travels. */
import type { OpenApi } from "effect/http-api"
import { dropImpossible, simplify } from "./operations.ts"

/** Makes `spec` tell the whole truth. Changes it in place. */
export const complete = (spec: OpenApi.OpenAPISpec): OpenApi.OpenAPISpec => {
  for (const item of Object.values(spec.paths)) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
      if (operation === undefined) continue
      dropImpossible(operation)
      for (const parameter of operation.parameters) {
        const own = `${parameter.name} of ${operation.operationId}`
        Object.assign(parameter, parameters[own] ?? parameters[parameter.name])
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        const isAuthentication = status === "401" || status === "429"
        response.headers = {
          ...completeHeaders(response.headers ?? {}),
          ...(isAuthentication ? limitHeaders : {}),
          "X-Request-Id": requestIdHeader
        }
      }
    }
  }
  simplify(spec)
  return spec
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const int64 = { type: "integer", format: "int64" }

const header = (description: string, schema: object): OpenApi.OpenAPISpecHeader => ({
  description,
  schema,
  required: true
})

const requestIdHeader = header("Identifies the request in the service's logs: the caller's own, or a new one.", {
  type: "string"
})

const limitHeaders = {
  "X-RateLimit-Limit": header("Failed authentications of one address per minute.", int64),
  "X-RateLimit-Remaining": header("Those left in the current minute.", int64),
  "X-RateLimit-Reset": header("Unix time when the minute ends.", int64)
}

/** What the parameters are, where a pattern on their text would be lost; by their name, and by their operation where that is not enough. */
const parameters: Readonly<Record<string, { readonly schema: object; readonly description: string }>> = {
  id: { schema: { type: "string" }, description: "Of the account, `acct_…`, or of the job, `gen_…`." },
  key_id: { schema: { type: "string" }, description: "Of the key's record, `key_…`; not the key." },
  account: { schema: { type: "string" }, description: "Only this account. Default: all." },
  cursor: { schema: { type: "string" }, description: "Where an earlier call ended: its `next_cursor`." },
  before: { schema: { type: "string" }, description: "Only what is older than this delivery, `dlv_…`." },
  endpoint_id: { schema: { type: "string" }, description: "Of the webhook endpoint, `whep_…`." },
  delivery_id: { schema: { type: "string" }, description: "Of the delivery, `dlv_…`." },
  "limit of ledger.verifyLedger": {
    schema: { ...int64, minimum: 1, maximum: 10_000, default: 1_000 },
    description: "How many accounts to compare in this call."
  },
  "limit of webhooks.listWebhookDeliveries": {
    schema: { ...int64, minimum: 1, maximum: 100, default: 20 },
    description: "Deliveries on a page."
  }
}

/** Headers in prose: what they are called, and whether they are numbers. */
const headers: Readonly<Record<string, { readonly name: string; readonly isNumber: boolean }>> = {
  "retry-after": { name: "Retry-After", isNumber: true },
  "retry-after-ms": { name: "retry-after-ms", isNumber: true },
  "www-authenticate": { name: "WWW-Authenticate", isNumber: false },
  "cache-control": { name: "Cache-Control", isNumber: false }
}

const completeHeaders = (
  found: Readonly<Record<string, OpenApi.OpenAPISpecHeader>>
): Record<string, OpenApi.OpenAPISpecHeader> =>
  Object.fromEntries(
    Object.entries(found).map(([name, header]) => {
      const known = headers[name]
      return known === undefined
        ? [name, header]
        : [known.name, known.isNumber ? { ...header, schema: int64 } : header]
    })
  )
