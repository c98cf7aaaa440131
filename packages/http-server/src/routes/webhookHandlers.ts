/** The handlers of webhook endpoints that the operator API and the API of the console have in common. */
import type { ResendFailedRequest } from "@kinora/http-api/AdminWebhook"
import type { ApiError } from "@kinora/http-api/ApiError"
import type { UrlSigner } from "@kinora/storage/UrlSigner"
import { DeliveryId } from "@kinora/webhooks/Delivery"
import type { EndpointId } from "@kinora/webhooks/Endpoint"
import type { Webhooks } from "@kinora/webhooks/Webhooks"
import { DateTime, Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { type ChangeRequest, changes, note } from "../middleware/changes.ts"
import { currentRequest } from "../middleware/currentRequest.ts"
import { answers, invalidParameter, parseId } from "../middleware/refusals.ts"
import * as WebhookData from "../WebhookData.ts"
import { deliveryOf, endpointOf, sendOf } from "../wire/adminWebhook.ts"

/** Makes the handlers. `idsOf` returns the account and the endpoint of a path. `Webhooks` checks that they belong together. */
export const makeWebhookReads = <Params, R>(
  webhooks: Webhooks["Service"],
  idsOf: IdsOf<Params, R>
) => ({
  getWebhookEndpoint: answers(["EndpointNotFound"], function*({ params }: Request<Params>) {
    return endpointOf(yield* webhooks.get(...(yield* idsOf(params))))
  }),

  listWebhookSends: answers(["EndpointNotFound"], function*({ params }: Request<Params>) {
    const sends = yield* webhooks.sends(...(yield* idsOf(params)))
    return { data: sends.map(sendOf) }
  }),

  listWebhookDeliveries: answers(
    ["EndpointNotFound"],
    function*({ params, query }: Request<Params> & { readonly query: PageQuery }) {
      const page = yield* pageOf(query)
      const deliveries = yield* webhooks.deliveries(...(yield* idsOf(params)), page)
      return { data: deliveries.map(deliveryOf) }
    }
  )
})

/** Makes the handler that returns a delivery with its body. */
export const makeGetDelivery = <Params, R>(
  { baseUrl }: HttpServerOptions,
  webhooks: Webhooks["Service"],
  signer: UrlSigner["Service"],
  idsOf: IdsOf<Params, R>
) =>
  answers(["DeliveryNotFound"], function*({ params }: Request<Params & { readonly delivery_id: string }>) {
    const [account, endpoint] = yield* idsOf(params)
    const id = yield* parseId(DeliveryId.parse, params.delivery_id)
    const event = yield* webhooks.event(account, endpoint, id)
    const { origin } = yield* currentRequest
    const data = yield* WebhookData.complete({ baseUrl: baseUrl ?? origin, signer })(event)
    return { id, payload: { id, type: event.type, created_at: DateTime.formatIso(event.createdAt), data } }
  })

/** Makes the handler that sends failed deliveries again. */
export const makeResendFailed = <Params, R>(
  webhooks: Webhooks["Service"],
  idsOf: IdsOf<Params, R>,
  author: "A member" | "An operator"
) =>
  changes(
    ["EndpointNotFound", "EndpointDisabled"],
    function*(
      { params, payload }: ChangeRequest & Request<Params> & { readonly payload: ResendFailedRequest }
    ) {
      const [account, endpoint] = yield* idsOf(params)
      const { left, restarted } = yield* webhooks.resendFailed(account, endpoint, payload.since)
      yield* note({ after: { account, resent: restarted } })
      yield* Effect.logInfo(`${author} resent failed deliveries`, { account, endpoint, resent: restarted, left })
      return { resent: restarted, left }
    }
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the account and the endpoint of a path. */
type IdsOf<Params, R> = (
  params: Params
) => Effect.Effect<readonly [account: string, endpoint: EndpointId], ApiError<"not_found">, R>

interface Request<Params> {
  readonly params: Params
}

interface PageQuery {
  readonly before?: string
  readonly limit?: number
}

const pageSizeDefault = 20

const invalidBefore = invalidParameter("before", "must be the id of a delivery")

/** Parses the page of a list of deliveries. */
const pageOf = Effect.fnUntraced(function*({ before: text, limit = pageSizeDefault }: PageQuery) {
  const before = text === undefined ? undefined : DeliveryId.parse(text)
  if (text !== undefined && before === undefined) return yield* invalidBefore
  return { limit, before }
})
