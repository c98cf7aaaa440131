/** Webhook endpoints in the API of the console. URLs are not logged, because some contain a secret. */
import { refuse } from "@kinora/http-api/ApiError"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { UnitOfWork } from "@kinora/persistence"
import { DeliveryId } from "@kinora/webhooks/Delivery"
import { EndpointId } from "@kinora/webhooks/Endpoint"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { Duration, Effect } from "effect"
import { currentAccount } from "../../middleware/consoleAuthentication.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { deliveryOf, endpointOf, issuedOf } from "../../wire/adminWebhook.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"
import { makeWebhookReads } from "../webhookReads.ts"

/** The handlers. `Webhooks` checks that an endpoint belongs to the account. */
export const layer = EndpointGroup.make(
  ConsoleApi,
  "webhooks",
  Effect.fnUntraced(function*(handlers) {
    const webhooks = yield* Webhooks

    return handlers.handleAll({
      ...makeWebhookReads(webhooks, idsOf),
      ...makeDeliveries(webhooks, yield* UnitOfWork.UnitOfWork),

      listWebhookEndpoints: answers([], function*() {
        const endpoints = yield* webhooks.list(yield* currentAccount)
        return { data: endpoints.map(endpointOf) }
      }),

      createWebhookEndpoint: answers(["AddressRefused", "TypesInvalid", "TooManyEndpoints"], function*({ payload }) {
        const account = yield* currentAccount
        const issued = yield* webhooks.create(account, payload)
        yield* Effect.logInfo("A member created a webhook endpoint", { account, endpoint: issued.endpoint.id })
        return shownOnce(issuedOf(issued))
      }),

      updateWebhookEndpoint: answers(
        ["EndpointNotFound", "AddressRefused", "TypesInvalid"],
        function*({ params, payload }) {
          const [account, endpoint] = yield* idsOf(params)
          const updated = yield* webhooks.update(account, endpoint, payload)
          const { status, types } = updated
          yield* Effect.logInfo("A member updated a webhook endpoint", { account, endpoint, status, types })
          return endpointOf(updated)
        }
      ),

      removeWebhookEndpoint: answers(["EndpointNotFound"], function*({ params }) {
        const [account, endpoint] = yield* idsOf(params)
        yield* webhooks.remove(account, endpoint)
        yield* Effect.logInfo("A member deleted a webhook endpoint", { account, endpoint })
      }),

      rotateWebhookSecret: answers(
        ["EndpointNotFound", "OverlapInvalid", "TooManySecrets"],
        function*({ params, payload: { overlap_seconds: seconds = 0 } }) {
          const [account, endpoint] = yield* idsOf(params)
          const issued = yield* webhooks.rotate(account, endpoint, Duration.seconds(seconds))
          yield* Effect.logInfo("A member rotated a webhook secret", { account, endpoint, overlap: seconds })
          return shownOnce(issuedOf(issued))
        }
      )
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface EndpointParams {
  readonly id: string
}

const idsOf = (params: EndpointParams) => Effect.all([currentAccount, parseId(EndpointId.parse, params.id)])

/** The handlers that send events. */
const makeDeliveries = (webhooks: Webhooks["Service"], { atomically }: UnitOfWork.UnitOfWork["Service"]) => ({
  testWebhookEndpoint: answers(
    ["EndpointNotFound", "EndpointDisabled"],
    function*({ params }: { readonly params: EndpointParams }) {
      const [account, endpoint] = yield* idsOf(params)
      return deliveryOf(yield* webhooks.test(account, endpoint))
    }
  ),

  resendWebhookDelivery: answers(
    ["DeliveryNotFound", "DeliveryPending", "EndpointDisabled"],
    function*({ params }: { readonly params: EndpointParams & { readonly delivery_id: string } }) {
      const [account, endpoint] = yield* idsOf(params)
      const id = yield* parseId(DeliveryId.parse, params.delivery_id)
      // The refusal of a delivery of another endpoint rolls back.
      return yield* atomically(Effect.gen(function*() {
        const delivery = yield* webhooks.resend(account, id)
        return delivery.endpoint === endpoint ? deliveryOf(delivery) : yield* refuse("not_found")
      }))
    }
  )
})
