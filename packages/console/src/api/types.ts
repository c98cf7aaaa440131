/** Names of wire types. */
import type { ResponseOf } from "./contract.ts"

export type {
  Account,
  CreateGenerationRequest,
  Generation,
  Kind,
  Model,
  Plan,
  Status,
  UsageReport
} from "@kinora/client"

/** The session of the browser. */
export type Session = NonNullable<ResponseOf<"GET /console/v1/session">>
/** A session in the list of sessions. */
export type ListedSession = ResponseOf<"GET /console/v1/sessions">["data"][number]
/** An API key, without the key itself. */
export type ApiKey = ResponseOf<"GET /admin/v1/accounts/:id/keys">["data"][number]
/** A new API key. */
export type NewApiKey = ResponseOf<"POST /admin/v1/accounts/:id/keys">
/** A member of an account. */
export type Member = ResponseOf<"GET /console/v1/members">["data"][number]
/** A webhook endpoint. */
export type Endpoint = ResponseOf<"GET /admin/v1/accounts/:id/webhook-endpoints">["data"][number]
/** An event for a webhook endpoint. */
export type Delivery = ResponseOf<
  "GET /admin/v1/accounts/:id/webhook-endpoints/:endpoint_id/deliveries"
>["data"][number]
/** An attempt to send an event. */
export type Send = ResponseOf<"GET /admin/v1/accounts/:id/webhook-endpoints/:endpoint_id/sends">["data"][number]
/** A booking. */
export type Transaction = ResponseOf<"GET /admin/v1/accounts/:id/transactions">["data"][number]
/** A job with its steps, as operators see it. */
export type JobActivity = ResponseOf<"GET /admin/v1/generations/:id">
/** An account, as operators see it. */
export type OperatorAccount = ResponseOf<"GET /admin/v1/accounts/:id">
