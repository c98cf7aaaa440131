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

const text = { type: "string" }

const time = { type: "string", format: "date-time" }

const day = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" }

const between = (minimum: number, maximum: number, usual: number) => ({ ...int64, minimum, maximum, default: usual })

const createdFrom = { schema: time, description: "Returns only jobs created at this time or later." }

const createdBefore = { schema: time, description: "Returns only jobs created before this time." }

const ofModel = { schema: text, description: "Returns only jobs that were created for the model with this id." }

const bookings = { schema: between(1, 1_000, 100), description: "The maximum number of bookings on the page." }

/** The items of the lists whose pages have the usual sizes, by operation. */
const items: Readonly<Record<string, string>> = {
  "accounts.listAccounts": "accounts",
  "audit.listAudit": "entries",
  "generations.list": "jobs",
  "generations.listGenerations": "jobs",
  "generations.searchGenerations": "jobs",
  "models.listModels": "models",
  "queue.getQueue": "models",
  "queue.listLanes": "lanes",
  "queue.listWorkers": "workers",
  "wallet.listCheckouts": "payments",
  "wallet.listMovements": "changes",
  "webhooks.listWebhookDeliveries": "deliveries"
}

/**
 * Parameters whose generated schema lacks details, by name, or by operation and name. Numbers are generated as text with a pattern.
 */
const parameters: Readonly<Record<string, Parameter>> = {
  ...Object.fromEntries(
    Object.entries(items).map(([operation, noun]) => [
      `${operation} limit`,
      { schema: between(1, 100, 20), description: `The maximum number of ${noun} on the page.` }
    ])
  ),
  "cursor": { schema: text, description: "`next_cursor` of the previous page." },
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
  "generations.list model": ofModel,
  "generations.list key": {
    schema: text,
    description: "Returns only jobs that the API key with this id created, `key_…`."
  },
  "generations.list from": createdFrom,
  "generations.list to": createdBefore,
  "generations.list q": {
    schema: { type: "string", minLength: 1, maxLength: 100 },
    description: "Returns only jobs whose prompt contains this text. A page looks for it in at most 1,000 jobs."
  },
  "generations.searchGenerations model": ofModel,
  "generations.searchGenerations created_after": createdFrom,
  "generations.searchGenerations created_before": createdBefore,
  "ledger.listTransactions limit": bookings,
  "ledger.verifyLedger cursor": { schema: text, description: "`next_cursor` of the previous call." },
  "ledger.verifyLedger limit": {
    schema: between(1, 10_000, 1_000),
    description: "The maximum number of accounts to verify in this call."
  },
  "reports.getStatement limit": bookings,
  "audit.listAudit since": { schema: time, description: "Returns only entries from this time on." },
  "audit.listAudit until": { schema: time, description: "Returns only entries before this time." }
}
