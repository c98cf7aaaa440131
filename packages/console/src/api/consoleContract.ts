/** Routes of `/console/v1`, by hand until `ConsoleApi` of the contract has them. */
import type { InferredRequest, InferredResponse, InferredRoute } from "./inferred.ts"

/** The running and waiting jobs of a plan group. */
interface LaneSummary {
  readonly running: number
  readonly concurrency: number
  readonly waiting: number
}

/** Figures of the account. */
export interface Summary {
  readonly jobs: Readonly<Record<"pending" | "queued" | "processing", number>>
  readonly plans: { readonly studio: LaneSummary; readonly credits: LaneSummary }
  readonly warnings: ReadonlyArray<{ readonly code: string; readonly message: string }>
}

type Of<R extends InferredRoute> = InferredResponse<R>
type Body<R extends InferredRoute> = InferredRequest<R> extends { readonly payload: infer P } ? P : never
type ById = { readonly params: { readonly id: string } }

type A = "/admin/v1/accounts/:id"
type E = `${A}/webhook-endpoints`

/** The requests and responses of `/console/v1`. Bodies are those of the operator API. */
export interface ConsoleRoutes {
  readonly "GET /console/v1/keys": { readonly success: Of<`GET ${A}/keys`> }
  readonly "POST /console/v1/keys": {
    readonly payload: Body<`POST ${A}/keys`>
    readonly success: Of<`POST ${A}/keys`>
  }
  readonly "POST /console/v1/keys/:id/roll": ById & {
    readonly payload: Body<`POST ${A}/keys/:key_id/roll`>
    readonly success: Of<`POST ${A}/keys/:key_id/roll`>
  }
  readonly "DELETE /console/v1/keys/:id": ById & { readonly success: void }
  readonly "GET /console/v1/webhook-endpoints": { readonly success: Of<`GET ${E}`> }
  readonly "POST /console/v1/webhook-endpoints": {
    readonly payload: Body<`POST ${E}`>
    readonly success: Of<`POST ${E}`>
  }
  readonly "GET /console/v1/webhook-endpoints/:id": ById & { readonly success: Of<`GET ${E}/:endpoint_id`> }
  readonly "PATCH /console/v1/webhook-endpoints/:id": ById & {
    readonly payload: Body<`PATCH ${E}/:endpoint_id`>
    readonly success: Of<`PATCH ${E}/:endpoint_id`>
  }
  readonly "DELETE /console/v1/webhook-endpoints/:id": ById & { readonly success: void }
  readonly "POST /console/v1/webhook-endpoints/:id/test": ById & {
    readonly success: Of<`POST ${E}/:endpoint_id/test`>
  }
  readonly "POST /console/v1/webhook-endpoints/:id/rotate": ById & {
    readonly payload: Body<`POST ${E}/:endpoint_id/rotate`>
    readonly success: Of<`POST ${E}/:endpoint_id/rotate`>
  }
  readonly "GET /console/v1/webhook-endpoints/:id/sends": ById & { readonly success: Of<`GET ${E}/:endpoint_id/sends`> }
  readonly "GET /console/v1/webhook-endpoints/:id/deliveries": ById & {
    readonly query?: { readonly limit?: string; readonly before?: string }
    readonly success: Of<`GET ${E}/:endpoint_id/deliveries`>
  }
  readonly "POST /console/v1/webhook-endpoints/:id/deliveries/:delivery_id/resend": {
    readonly params: { readonly id: string; readonly delivery_id: string }
    readonly success: Of<`POST ${A}/webhook-deliveries/:delivery_id/resend`>
  }
  readonly "GET /console/v1/statement": {
    readonly query?: { readonly limit?: string; readonly cursor?: string }
    readonly success: Of<`GET ${A}/transactions`>
  }
  readonly "GET /console/v1/summary": { readonly success: Summary }
  readonly "GET /console/v1/generations/:id/activity": ById & { readonly success: Of<"GET /admin/v1/generations/:id"> }
}
