/** Webhook endpoints for operators, and what was sent there. URLs are not logged: some have a secret in them. */
import { Accounts } from "@kinora/accounts"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { DeliveryId } from "@kinora/webhooks/Delivery"
import { EndpointId } from "@kinora/webhooks/Endpoint"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Refusals from "./refusals.ts"
import { shownOnce } from "./shownOnce.ts"
import { deliveryOf, endpointOf, issuedOf, sendOf } from "./webhookView.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "webhooks",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const webhooks = yield* Webhooks

    /** The account, which webhooks know by its id alone. */
    const accountOf = Effect.fnUntraced(function*(text: string) {
      const { id } = yield* accounts.get(yield* Refusals.accountIdOf(text))
      return id
    })
    /** What a path names. What is no endpoint of the account is not found by `Webhooks`. */
    const idsOf = (params: { readonly id: string; readonly endpoint_id: string }) =>
      Effect.all([Refusals.accountIdOf(params.id), Refusals.idOf(EndpointId.parse, params.endpoint_id)])

    return handlers
      .handle(
        "createWebhookEndpoint",
        Effect.fnUntraced(
          function*({ params, payload }) {
            const account = yield* accountOf(params.id)
            const issued = yield* webhooks.create(account, payload)
            const { id: endpoint } = issued.endpoint
            yield* Effect.logInfo("An operator registered a webhook endpoint", { account, endpoint })
            return shownOnce(issuedOf(issued))
          },
          Refusals.answer("AccountNotFound", "AddressRefused", "TypesInvalid", "TooManyEndpoints")
        )
      )
      .handle(
        "listWebhookEndpoints",
        Effect.fnUntraced(
          function*({ params }) {
            const endpoints = yield* webhooks.list(yield* accountOf(params.id))
            return { data: endpoints.map(endpointOf) }
          },
          Refusals.answer("AccountNotFound")
        )
      )
      .handle(
        "getWebhookEndpoint",
        Effect.fnUntraced(
          function*({ params }) {
            return endpointOf(yield* webhooks.get(...(yield* idsOf(params))))
          },
          Refusals.answer("EndpointNotFound")
        )
      )
      .handle(
        "updateWebhookEndpoint",
        Effect.fnUntraced(
          function*({ params, payload }) {
            const [account, endpoint] = yield* idsOf(params)
            const updated = yield* webhooks.update(account, endpoint, payload)
            const { status, types } = updated
            yield* Effect.logInfo("An operator changed a webhook endpoint", { account, endpoint, status, types })
            return endpointOf(updated)
          },
          Refusals.answer("EndpointNotFound", "AddressRefused", "TypesInvalid")
        )
      )
      .handle(
        "removeWebhookEndpoint",
        Effect.fnUntraced(
          function*({ params }) {
            const [account, endpoint] = yield* idsOf(params)
            yield* webhooks.remove(account, endpoint)
            yield* Effect.logInfo("An operator removed a webhook endpoint", { account, endpoint })
          },
          Refusals.answer("EndpointNotFound")
        )
      )
      .handle(
        "rotateWebhookSecret",
        Effect.fnUntraced(
          function*({ params, payload: { overlap_seconds: seconds = 0 } }) {
            const [account, endpoint] = yield* idsOf(params)
            const issued = yield* webhooks.rotate(account, endpoint, Duration.seconds(seconds))
            yield* Effect.logInfo("An operator issued a new webhook secret", { account, endpoint, overlap: seconds })
            return shownOnce(issuedOf(issued))
          },
          Refusals.answer("EndpointNotFound", "OverlapInvalid", "TooManySecrets")
        )
      )
      .handle(
        "testWebhookEndpoint",
        Effect.fnUntraced(
          function*({ params }) {
            const [account, endpoint] = yield* idsOf(params)
            const delivery = yield* webhooks.test(account, endpoint)
            yield* Effect.logInfo("An operator sent a test event", { account, endpoint, delivery: delivery.id })
            return deliveryOf(delivery)
          },
          Refusals.answer("EndpointNotFound", "EndpointDisabled")
        )
      )
      .handle(
        "listWebhookSends",
        Effect.fnUntraced(
          function*({ params }) {
            const sends = yield* webhooks.sends(...(yield* idsOf(params)))
            return { data: sends.map(sendOf) }
          },
          Refusals.answer("EndpointNotFound")
        )
      )
      .handle(
        "listWebhookDeliveries",
        Effect.fnUntraced(
          function*({ params, query: { before: text, limit = pageSizeDefault } }) {
            const before = text === undefined ? undefined : DeliveryId.parse(text)
            if (text !== undefined && before === undefined) return yield* invalidBefore
            const deliveries = yield* webhooks.deliveries(...(yield* idsOf(params)), { limit, before })
            return { data: deliveries.map(deliveryOf) }
          },
          Refusals.answer("EndpointNotFound")
        )
      )
      .handle(
        "resendWebhookDelivery",
        Effect.fnUntraced(
          function*({ params }) {
            const account = yield* Refusals.accountIdOf(params.id)
            const id = yield* Refusals.idOf(DeliveryId.parse, params.delivery_id)
            const delivery = yield* webhooks.resend(account, id)
            yield* Effect.logInfo("An operator sent a delivery again", { account, delivery: id })
            return deliveryOf(delivery)
          },
          Refusals.answer("DeliveryNotFound", "DeliveryPending", "EndpointDisabled")
        )
      )
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Deliveries on a page that says nothing of its size. */
const pageSizeDefault = 20

const invalidBefore = Refusals.invalidParameter("before", "must be the id of a delivery")
