/** The handlers of the operator API and of the API of the console that read a webhook endpoint. */
import type { ApiError } from "@kinora/http-api/ApiError"
import { DeliveryId } from "@kinora/webhooks/Delivery"
import type { EndpointId } from "@kinora/webhooks/Endpoint"
import type { Webhooks } from "@kinora/webhooks/Webhooks"
import { Effect } from "effect"
import { answers, invalidParameter } from "../middleware/refusals.ts"
import { deliveryOf, endpointOf, sendOf } from "../wire/adminWebhook.ts"

/** Makes the handlers. `idsOf` returns the account and the endpoint of a path. `Webhooks` checks that they belong together. */
export const makeWebhookReads = <Params, R>(
  webhooks: Webhooks["Service"],
  idsOf: (params: Params) => Effect.Effect<readonly [account: string, endpoint: EndpointId], ApiError<"not_found">, R>
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
