/** Parameters as the OpenAPI documents describe them. */
import type { OpenApi } from "effect/http-api"
import { int64 } from "./headers.ts"
import { simplify } from "./simplify.ts"

/** Completes a parameter of an operation. Changes it in place. */
export const completeParameter = (parameter: OpenApi.OpenAPISpecParameter, operationId: string): void => {
  const more = parameters[`${operationId} ${parameter.name}`] ?? parameters[parameter.name]
  parameter.name = names[parameter.name] ?? parameter.name
  simplify(parameter.schema)
  if ("description" in parameter.schema) {
    const { description, ...schema } = parameter.schema
    Object.assign(parameter, { schema, description })
  }
  Object.assign(parameter, more)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Headers under their usual names. */
const names: Readonly<Record<string, string>> = {
  "idempotency-key": "Idempotency-Key",
  "x-plan": "X-Plan",
  "range": "Range",
  "if-range": "If-Range",
  "if-none-match": "If-None-Match"
}

interface Parameter {
  readonly schema: object
  readonly description?: string
}

const between = (minimum: number, maximum: number, usual: number) => ({ ...int64, minimum, maximum, default: usual })

const day = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" }

/**
 * Parameters of which the generated schema says too little, by name, or by operation
 * and name. Numbers are generated as text with a pattern.
 */
const parameters: Readonly<Record<string, Parameter>> = {
  "idempotency-key": {
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
    description: "Printable ASCII. Repeating a request with the same key and body returns the first job."
  },
  "wait": {
    schema: { ...int64, minimum: 0 },
    description: "How many seconds to wait until the job has ended. Values above 60 count as 60."
  },
  "x-plan": { schema: { type: "string", enum: ["studio", "credits"] } },
  "account.usage from": { schema: day },
  "account.usage to": { schema: day },
  "generations.list model": {
    schema: { type: "string" },
    description: "Returns only jobs that were created for the model with this id."
  },
  "generations.list key": {
    schema: { type: "string" },
    description: "Returns only jobs that the API key with this id created, `key_…`."
  },
  "generations.list from": {
    schema: { type: "string", format: "date-time" },
    description: "Returns only jobs created at this time or later."
  },
  "generations.list to": {
    schema: { type: "string", format: "date-time" },
    description: "Returns only jobs created before this time."
  },
  "generations.list q": {
    schema: { type: "string", minLength: 1, maxLength: 100 },
    description: "Returns only jobs whose prompt contains this text. A page looks for it in at most 1,000 jobs."
  },
  "generations.list limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of jobs on the page."
  },
  "wallet.listMovements cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "wallet.listMovements limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of changes on the page."
  },
  "wallet.listCheckouts cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "wallet.listCheckouts limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of payments on the page."
  },
  "generations.listGenerations limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of jobs on the page."
  },
  "accounts.listAccounts cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "accounts.listAccounts limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of accounts on the page."
  },
  "ledger.listTransactions cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "ledger.listTransactions limit": {
    schema: between(1, 1_000, 100),
    description: "The maximum number of bookings on the page."
  },
  "ledger.verifyLedger cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous call."
  },
  "ledger.verifyLedger limit": {
    schema: between(1, 10_000, 1_000),
    description: "The maximum number of accounts to verify in this call."
  },
  "generations.searchGenerations limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of jobs on the page."
  },
  "generations.searchGenerations model": {
    schema: { type: "string" },
    description: "Returns only jobs that were created for the model with this id."
  },
  "generations.searchGenerations created_after": {
    schema: { type: "string", format: "date-time" },
    description: "Returns only jobs created at this time or later."
  },
  "generations.searchGenerations created_before": {
    schema: { type: "string", format: "date-time" },
    description: "Returns only jobs created before this time."
  },
  "models.listModels cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "models.listModels limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of models on the page."
  },
  "queue.getQueue cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "queue.getQueue limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of models on the page."
  },
  "queue.listWorkers cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "queue.listWorkers limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of workers on the page."
  },
  "queue.listLanes cursor": {
    schema: { type: "string" },
    description: "`next_cursor` of the previous page."
  },
  "queue.listLanes limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of lanes on the page."
  },
  "audit.listAudit limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of entries on the page."
  },
  "audit.listAudit since": {
    schema: { type: "string", format: "date-time" },
    description: "Returns only entries from this time on."
  },
  "audit.listAudit until": {
    schema: { type: "string", format: "date-time" },
    description: "Returns only entries before this time."
  },
  "webhooks.listWebhookDeliveries limit": {
    schema: between(1, 100, 20),
    description: "The maximum number of deliveries on the page."
  }
}
