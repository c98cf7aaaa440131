/** The methods of `Webhooks` that list, resend and delete deliveries. */
import { DateTime, Effect, Result } from "effect"
import type { Delivery, DeliveryId, Send } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import { DeliveryNotFound, EndpointDisabled, EndpointNotFound } from "../../WebhooksError.ts"
import * as EndpointRules from "../rules/endpointRules.ts"
import type { Dependencies } from "./Dependencies.ts"
import { getEndpoint } from "./endpointRecord.ts"
import { orRefuse } from "./refusal.ts"

/** A page of deliveries. */
export interface DeliveryPage {
  /** Number of deliveries, at most 100. */
  readonly limit: number
  /** Starts after this delivery; absent for the first page. */
  readonly before?: DeliveryId | undefined
}

/** The deliveries of the events about a subject, and their sends. */
export interface History {
  /** Newest first. */
  readonly deliveries: ReadonlyArray<Delivery>
  /** The sends of these deliveries that are in the logs of their endpoints, newest first. */
  readonly sends: ReadonlyArray<Send>
}

/** The methods of `Webhooks` for deliveries. */
export const methods = (self: Dependencies) => ({
  resend: Effect.fn("Webhooks.resend")((account: string, id: DeliveryId) =>
    // A refusal leaves the unit as a value, because a failure would doom an open unit.
    Effect.flatMap(self.unitOfWork.atomically(resend(self, account, id)), orRefuse)
  ),
  resendFailed: Effect.fn("Webhooks.resendFailed")((account: string, id: EndpointId, since: DateTime.Utc) =>
    Effect.flatMap(self.unitOfWork.atomically(resendFailed(self, account, id, since)), orRefuse)
  ),
  event: Effect.fn("Webhooks.event")(function*(account: string, endpoint: EndpointId, id: DeliveryId) {
    const event = yield* self.store.findEvent(account, endpoint, id)
    return event ?? (yield* orRefuse(Result.fail(new DeliveryNotFound({ delivery: id }))))
  }),
  deliveries: Effect.fn("Webhooks.deliveries")(
    function*(account: string, id: EndpointId, { before, limit }: DeliveryPage) {
      yield* getEndpoint(self, account, id)
      return yield* self.store.listDeliveries(id, Math.max(0, Math.min(limit, pageMax)), before)
    }
  ),
  sends: Effect.fn("Webhooks.sends")(function*(account: string, id: EndpointId) {
    yield* getEndpoint(self, account, id)
    return yield* self.store.listSends(id, self.limits.sendsKept)
  }),
  history: Effect.fn("Webhooks.history")(function*(account: string, subject: string) {
    const deliveries = yield* self.store.listDeliveriesAbout(account, subject, self.limits.historyMax)
    const ids = deliveries.map(({ id }) => id)
    const sends = ids.length === 0 ? [] : yield* self.store.listSendsOf(ids, self.limits.historyMax)
    const history: History = { deliveries, sends }
    return history
  }),
  sweep: Effect.fn("Webhooks.sweep")((limit: number) => sweep(self, limit))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Deliveries of one page. */
const pageMax = 100

const resend = Effect.fnUntraced(function*(
  { store, unitOfWork, wakeup }: Dependencies,
  account: string,
  id: DeliveryId
) {
  const delivery = yield* store.loadDelivery(account, id)
  const endpoint = delivery === undefined
    ? undefined
    : (yield* store.findEndpoints([account])).find(({ id }) => id === delivery.endpoint)
  const at = yield* DateTime.now
  const resent = EndpointRules.resend({ delivery, endpoint }, { id, at })
  if (Result.isSuccess(resent)) {
    yield* store.restart(id, at)
    yield* unitOfWork.afterCommit(wakeup.wake)
  }
  return resent
})

const resendFailed = Effect.fnUntraced(function*(
  { limits, store, unitOfWork, wakeup }: Dependencies,
  account: string,
  id: EndpointId,
  since: DateTime.Utc
) {
  const endpoint = (yield* store.findEndpoints([account])).find((endpoint) => endpoint.id === id)
  if (endpoint === undefined) return Result.fail(new EndpointNotFound({ endpoint: id }))
  if (endpoint.status === "disabled") return Result.fail(new EndpointDisabled({ endpoint: id }))
  const at = yield* DateTime.now
  const restarted = yield* store.restartFailed({ account, endpoint: id, since, at, pendingMax: limits.resendMax })
  if (restarted.restarted > 0) yield* unitOfWork.afterCommit(wakeup.wake)
  return Result.succeed(restarted)
})

const sweep = Effect.fnUntraced(function*(
  { limits: { keepFor, pendingMax, sendsKept }, store }: Dependencies,
  limit: number
) {
  const now = yield* DateTime.now
  const expired = yield* store.expire(DateTime.subtractDuration(now, pendingMax), now, limit)
  const swept = yield* store.sweep(DateTime.subtractDuration(now, keepFor), limit)
  const trimmed = yield* store.trimSends(sendsKept, limit)
  return expired + swept + trimmed
})
