/** Webhook endpoints in the operator API. URLs are not logged, because some contain a secret. */
import { Account, Accounts } from "@kinora/accounts"
import { AdminApi } from "@kinora/http-api/AdminApi"
import type { UpdateWebhookEndpointRequest } from "@kinora/http-api/AdminWebhook"
import { DeliveryId } from "@kinora/webhooks/Delivery"
import { EndpointId } from "@kinora/webhooks/Endpoint"
import { type Issued, Webhooks } from "@kinora/webhooks/Webhooks"
import { Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { answers, invalidParameter, parseId } from "../../middleware/refusals.ts"
import { deliveryOf, endpointOf, issuedOf, sendOf } from "../../wire/adminWebhook.ts"
import { shownOnce } from "../../wire/shownOnce.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "webhooks",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const webhooks = yield* Webhooks

    const accountOf = makeAccountOf(accounts)

    return handlers.handleAll({
      createWebhookEndpoint: answers(
        ["AccountNotFound", "AddressRefused", "TypesInvalid", "TooManyEndpoints"],
        function*({ params, payload }) {
          const account = yield* accountOf(params.id)
          return yield* respondOnce(yield* webhooks.create(account, payload), account, "created a webhook endpoint")
        }
      ),

      listWebhookEndpoints: answers(["AccountNotFound"], function*({ params }) {
        const endpoints = yield* webhooks.list(yield* accountOf(params.id))
        return { data: endpoints.map(endpointOf) }
      }),

      getWebhookEndpoint: answers(["EndpointNotFound"], function*({ params }) {
        return endpointOf(yield* webhooks.get(...(yield* idsOf(params))))
      }),

      updateWebhookEndpoint: makeUpdate(webhooks),

      removeWebhookEndpoint: answers(["EndpointNotFound"], function*({ params }) {
        const [account, endpoint] = yield* idsOf(params)
        yield* webhooks.remove(account, endpoint)
        yield* Effect.logInfo("An operator deleted a webhook endpoint", { account, endpoint })
      }),

      rotateWebhookSecret: answers(
        ["EndpointNotFound", "OverlapInvalid", "TooManySecrets"],
        function*({ params, payload: { overlap_seconds: seconds = 0 } }) {
          const [account, endpoint] = yield* idsOf(params)
          const issued = yield* webhooks.rotate(account, endpoint, Duration.seconds(seconds))
          return yield* respondOnce(issued, account, "rotated a webhook secret", { overlap: seconds })
        }
      ),

      testWebhookEndpoint: answers(["EndpointNotFound", "EndpointDisabled"], function*({ params }) {
        const [account, endpoint] = yield* idsOf(params)
        const delivery = yield* webhooks.test(account, endpoint)
        yield* Effect.logInfo("An operator sent a test event", { account, endpoint, delivery: delivery.id })
        return deliveryOf(delivery)
      }),

      listWebhookSends: answers(["EndpointNotFound"], function*({ params }) {
        const sends = yield* webhooks.sends(...(yield* idsOf(params)))
        return { data: sends.map(sendOf) }
      }),

      listWebhookDeliveries: answers(["EndpointNotFound"], function*({ params, query }) {
        const page = yield* pageOf(query)
        const deliveries = yield* webhooks.deliveries(...(yield* idsOf(params)), page)
        return { data: deliveries.map(deliveryOf) }
      }),

      resendWebhookDelivery: answers(
        ["DeliveryNotFound", "DeliveryPending", "EndpointDisabled"],
        function*({ params }) {
          const account = yield* parseId(Account.AccountId.parse, params.id)
          const delivery = yield* webhooks.resend(account, yield* parseId(DeliveryId.parse, params.delivery_id))
          yield* Effect.logInfo("An operator resent a delivery", { account, delivery: delivery.id })
          return deliveryOf(delivery)
        }
      )
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pageSizeDefault = 20

/** Parses the id of an account that exists, which `Webhooks` does not check. */
const makeAccountOf = (accounts: Accounts.Accounts["Service"]) =>
  Effect.fnUntraced(function*(text: string) {
    const { id } = yield* accounts.get(yield* parseId(Account.AccountId.parse, text))
    return id
  })

interface EndpointParams {
  readonly id: string
  readonly endpoint_id: string
}

const makeUpdate = (webhooks: Webhooks["Service"]) =>
  answers(
    ["EndpointNotFound", "AddressRefused", "TypesInvalid"],
    function*(
      { params, payload }: { readonly params: EndpointParams; readonly payload: UpdateWebhookEndpointRequest }
    ) {
      const [account, endpoint] = yield* idsOf(params)
      const updated = yield* webhooks.update(account, endpoint, payload)
      const { status, types } = updated
      yield* Effect.logInfo("An operator updated a webhook endpoint", { account, endpoint, status, types })
      return endpointOf(updated)
    }
  )

/** Parses the ids of a path. `Webhooks` checks that the endpoint belongs to the account. */
const idsOf = (params: EndpointParams) =>
  Effect.all([parseId(Account.AccountId.parse, params.id), parseId(EndpointId.parse, params.endpoint_id)])

const pageOf = Effect.fnUntraced(
  function*({ before: text, limit = pageSizeDefault }: { readonly before?: string; readonly limit?: number }) {
    const before = text === undefined ? undefined : DeliveryId.parse(text)
    if (text !== undefined && before === undefined) return yield* invalidBefore
    return { limit, before }
  }
)

const invalidBefore = invalidParameter("before", "must be the id of a delivery")

/** Logs the action, and responds with the endpoint and its new secret. */
const respondOnce = (issued: Issued, account: string, action: string, more: object = {}) =>
  Effect.as(
    Effect.logInfo(`An operator ${action}`, { account, endpoint: issued.endpoint.id, ...more }),
    shownOnce(issuedOf(issued))
  )
