/** Webhook endpoints in the operator API. URLs are not logged, because some contain a secret. */
import { Account, Accounts } from "@kinora/accounts"
import { CurrentOperator } from "@kinora/http-api/Access"
import { AdminApi } from "@kinora/http-api/AdminApi"
import type { UpdateWebhookEndpointRequest } from "@kinora/http-api/AdminWebhook"
import { refuse } from "@kinora/http-api/ApiError"
import { permits } from "@kinora/http-api/RequestPolicy"
import { UrlSigner } from "@kinora/storage/UrlSigner"
import { DeliveryId } from "@kinora/webhooks/Delivery"
import { EndpointId } from "@kinora/webhooks/Endpoint"
import { type Issued, Webhooks } from "@kinora/webhooks/Webhooks"
import { Duration, Effect } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { type ChangeRequest, changes, note } from "../../middleware/changes.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { deliveryOf, endpointOf, issuedOf } from "../../wire/adminWebhook.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"
import { makeGetDelivery, makeResendFailed, makeWebhookReads } from "../webhookHandlers.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(AdminApi, "webhooks", function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const webhooks = yield* Webhooks

    const accountOf = makeAccountOf(accounts)

    return handlers.handleAll({
      ...makeWebhookReads(webhooks, idsOf),
      getWebhookDelivery: makeGetDelivery(options, webhooks, yield* UrlSigner, idsOf),
      resendFailedDeliveries: makeResendFailed(webhooks, idsOf, "An operator"),

      createWebhookEndpoint: changes(
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

      updateWebhookEndpoint: makeUpdate(webhooks),

      removeWebhookEndpoint: changes(["EndpointNotFound"], function*({ params }) {
        const [account, endpoint] = yield* idsOf(params)
        yield* webhooks.remove(account, endpoint)
        yield* Effect.logInfo("An operator deleted a webhook endpoint", { account, endpoint })
      }),

      rotateWebhookSecret: changes(
        ["EndpointNotFound", "OverlapInvalid", "TooManySecrets"],
        function*({ params, payload: { overlap_seconds: seconds = 0 } }) {
          const [account, endpoint] = yield* idsOf(params)
          const issued = yield* webhooks.rotate(account, endpoint, Duration.seconds(seconds))
          return yield* respondOnce(issued, account, "rotated a webhook secret", { overlap: seconds })
        }
      ),

      testWebhookEndpoint: changes(["EndpointNotFound", "EndpointDisabled"], function*({ params }) {
        const [account, endpoint] = yield* idsOf(params)
        const delivery = yield* webhooks.test(account, endpoint)
        yield* Effect.logInfo("An operator sent a test event", { account, endpoint, delivery: delivery.id })
        return deliveryOf(delivery)
      }),

      resendWebhookDelivery: changes(
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
  changes(
    ["EndpointNotFound", "AddressRefused", "TypesInvalid"],
    function*(
      { params, payload }: ChangeRequest & {
        readonly params: EndpointParams
        readonly payload: UpdateWebhookEndpointRequest
      }
    ) {
      const { role } = yield* CurrentOperator
      const isDisabling = payload.status === "disabled" && Object.keys(payload).length === 1
      if (!isDisabling && !permits(role, "operator")) {
        return yield* refuse("role_missing", { details: { role: "operator" } })
      }
      const [account, endpoint] = yield* idsOf(params)
      const before = yield* webhooks.get(account, endpoint)
      const updated = yield* webhooks.update(account, endpoint, payload)
      const { status, types } = updated
      yield* note({
        before: { account, status: before.status, types: before.types },
        after: { account, status, types }
      })
      yield* Effect.logInfo("An operator updated a webhook endpoint", { account, endpoint, status, types })
      return endpointOf(updated)
    }
  )

/** Parses the ids of a path. `Webhooks` checks that the endpoint belongs to the account. */
const idsOf = (params: EndpointParams) =>
  Effect.all([parseId(Account.AccountId.parse, params.id), parseId(EndpointId.parse, params.endpoint_id)])

/** Records and logs the action, and responds with the endpoint and its new secret. */
const respondOnce = Effect.fnUntraced(
  function*(issued: Issued, account: string, action: string, more: Readonly<Record<string, number>> = {}) {
    const { id, types } = issued.endpoint
    yield* note({ subject: id, after: { account, types, ...more } })
    yield* Effect.logInfo(`An operator ${action}`, { account, endpoint: id, ...more })
    return shownOnce(issuedOf(issued))
  }
)
