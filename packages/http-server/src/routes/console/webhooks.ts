/** Webhook endpoints in the API of the console. URLs are not logged, because some contain a secret. */
import { refuse } from "@kinora/http-api/ApiError"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { UrlSigner } from "@kinora/storage/UrlSigner"
import { DeliveryId } from "@kinora/webhooks/Delivery"
import { EndpointId } from "@kinora/webhooks/Endpoint"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { Duration, Effect } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { type ChangeRequest, changes, note, slowChanges } from "../../middleware/changes.ts"
import { currentAccount } from "../../middleware/consoleAuthentication.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { deliveryOf, endpointOf, issuedOf } from "../../wire/adminWebhook.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"
import { makeGetDelivery, makeResendFailed, makeWebhookReads } from "../webhookHandlers.ts"

/** The handlers. `Webhooks` checks that an endpoint belongs to the account. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(ConsoleApi, "webhooks", function*(handlers) {
    const webhooks = yield* Webhooks

    return handlers.handleAll({
      ...makeWebhookReads(webhooks, idsOf),
      ...makeDeliveries(webhooks),
      getWebhookDelivery: makeGetDelivery(options, webhooks, yield* UrlSigner, idsOf),
      resendFailedDeliveries: makeResendFailed(webhooks, idsOf, "A member"),

      listWebhookEndpoints: answers([], function*() {
        const endpoints = yield* webhooks.list(yield* currentAccount)
        return { data: endpoints.map(endpointOf) }
      }),

      createWebhookEndpoint: slowChanges(
        ["AddressRefused", "TypesInvalid", "TooManyEndpoints"],
        function*({ payload }) {
          const account = yield* currentAccount
          const issued = yield* webhooks.create(account, payload)
          const { id, types } = issued.endpoint
          yield* note({ subject: id, after: { account, types } })
          yield* Effect.logInfo("A member created a webhook endpoint", { account, endpoint: id })
          return shownOnce(issuedOf(issued))
        }
      ),

      updateWebhookEndpoint: slowChanges(
        ["EndpointNotFound", "AddressRefused", "TypesInvalid"],
        function*({ params, payload }) {
          const [account, endpoint] = yield* idsOf(params)
          const updated = yield* webhooks.update(account, endpoint, payload)
          const { status, types } = updated
          yield* note({ after: { account, status, types } })
          yield* Effect.logInfo("A member updated a webhook endpoint", { account, endpoint, status, types })
          return endpointOf(updated)
        }
      ),

      removeWebhookEndpoint: changes(["EndpointNotFound"], function*({ params }) {
        const [account, endpoint] = yield* idsOf(params)
        yield* webhooks.remove(account, endpoint)
        yield* note({ after: { account } })
        yield* Effect.logInfo("A member deleted a webhook endpoint", { account, endpoint })
      }),

      rotateWebhookSecret: changes(
        ["EndpointNotFound", "OverlapInvalid", "TooManySecrets"],
        function*({ params, payload: { overlap_seconds: seconds = 0 } }) {
          const [account, endpoint] = yield* idsOf(params)
          const issued = yield* webhooks.rotate(account, endpoint, Duration.seconds(seconds))
          yield* note({ after: { account, overlap: seconds } })
          yield* Effect.logInfo("A member rotated a webhook secret", { account, endpoint, overlap: seconds })
          return shownOnce(issuedOf(issued))
        }
      )
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface EndpointParams {
  readonly id: string
}

const idsOf = (params: EndpointParams) => Effect.all([currentAccount, parseId(EndpointId.parse, params.id)])

/** The handlers that send events. */
const makeDeliveries = (webhooks: Webhooks["Service"]) => ({
  testWebhookEndpoint: changes(
    ["EndpointNotFound", "EndpointDisabled"],
    function*({ params }: ChangeRequest & { readonly params: EndpointParams }) {
      const [account, endpoint] = yield* idsOf(params)
      yield* note({ after: { account } })
      return deliveryOf(yield* webhooks.test(account, endpoint))
    }
  ),

  resendWebhookDelivery: changes(
    ["DeliveryNotFound", "DeliveryPending", "EndpointDisabled"],
    function*({ params }: ChangeRequest & { readonly params: EndpointParams & { readonly delivery_id: string } }) {
      const [account, endpoint] = yield* idsOf(params)
      const id = yield* parseId(DeliveryId.parse, params.delivery_id)
      yield* note({ after: { account } })
      const delivery = yield* webhooks.resend(account, id)
      // The refusal of a delivery of another endpoint rolls back.
      return delivery.endpoint === endpoint ? deliveryOf(delivery) : yield* refuse("not_found")
    }
  )
})
