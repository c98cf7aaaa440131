/** Error codes that only operators receive, besides those of clients. */
import { Schema } from "effect"
import { Status } from "../Generation.ts"
import { OperatorRole } from "../RequestPolicy.ts"
import type { ErrorDefinition } from "./ErrorDefinition.ts"
import { field, flag, int, text } from "./fields.ts"

/** Problems of the URL of a webhook endpoint. `dns`: its host has no address. */
export const UrlProblem = Schema.Literals(["url", "scheme", "port", "user_info", "own_domain", "address", "dns"])

/** The codes of `/admin/v1`. */
export const operatorErrors = {
  invalid_webhook_url: {
    status: 400,
    message: "Webhooks cannot be sent to this URL; use another one.",
    details: { problem: field(UrlProblem, "What is wrong with the URL.") }
  },
  insufficient_balance: {
    status: 402,
    message: "The balance of the account is too low; make a deposit first.",
    details: {
      required_usd_cents: int("What the request costs, in US cents."),
      available_usd_cents: int("The balance, in US cents.")
    }
  },
  role_missing: {
    status: 403,
    message: "The role of the operator does not permit this request; use the token of an operator with the role in " +
      "details.role or a higher one.",
    details: { role: field(OperatorRole, "The lowest role that permits the request.") }
  },
  account_deleted: {
    status: 409,
    message: "The account is deleted; restore it first, unless its data was erased.",
    details: { erased: flag("Whether the data of the account was erased, so that it cannot be restored.") }
  },
  console_disabled: {
    status: 409,
    message: "The console is off; set KINORA_CONSOLE to true, and restart the server."
  },
  delivery_pending: {
    status: 409,
    message: "The delivery is still pending; wait until its status is delivered or failed."
  },
  email_taken: {
    status: 409,
    message: "Another account has this e-mail address; use that account or another address."
  },
  endpoint_disabled: {
    status: 409,
    message: "The webhook endpoint is disabled; enable it first."
  },
  job_ended: {
    status: 409,
    message: "The job has ended; its result and its charge are final.",
    details: { status: field(Status, "The status of the job.") }
  },
  key_ended: {
    status: 409,
    message: "The API key is revoked or has expired; create another key."
  },
  member_exists: {
    status: 409,
    message: "The account has a member with this e-mail address; create a sign-in link of that member."
  },
  operator_ended: {
    status: 409,
    message: "The operator is revoked or has expired; create another operator."
  },
  plan_not_active: {
    status: 409,
    message: "The account has no active plan in this group; subscribe it to one first."
  },
  payments_disabled: {
    status: 409,
    message: "No payment provider is configured; book a deposit, or set the key of Stripe."
  },
  reference_reused: {
    status: 409,
    message: "This reference was used for a different request; use a new reference."
  },
  too_many_endpoints: {
    status: 409,
    message: "The account has the maximum number of webhook endpoints; remove one first.",
    details: { endpoints_max: int("The maximum number of endpoints.") }
  },
  too_many_keys: {
    status: 409,
    message: "The account has the maximum number of API keys; revoke one first.",
    details: { keys_max: int("The maximum number of keys in use.") }
  },
  too_many_links: {
    status: 409,
    message: "The maximum number of sign-in links is valid; use one, or wait until one expires.",
    details: { links_max: int("The maximum number of links of one account and role, or of one operator.") }
  },
  too_many_members: {
    status: 409,
    message: "The account has the maximum number of members; remove one first.",
    details: { members_max: int("The maximum number of members of an account.") }
  },
  too_many_operators: {
    status: 409,
    message: "The service has the maximum number of operators; revoke one first.",
    details: { operators_max: int("The maximum number of operators that are neither revoked nor expired.") }
  },
  too_many_payments: {
    status: 409,
    message: "The account has the maximum number of open payments; wait until one is paid or expires.",
    details: { open_max: int("The maximum number of open payments.") }
  },
  too_many_secrets: {
    status: 409,
    message: "The endpoint already has the maximum number of active secrets; wait until an overlap ends, or rotate " +
      "without an overlap.",
    details: { secrets_max: int("The maximum number of active secrets.") }
  },
  payment_rejected: {
    status: 502,
    message: "The payment provider rejected the checkout; details.problem has its reason.",
    details: { problem: text("The reason of the provider.") }
  }
} as const satisfies Readonly<Record<string, ErrorDefinition>>
