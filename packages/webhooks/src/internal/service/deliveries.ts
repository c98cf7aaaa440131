/** The methods of `Webhooks` that list, resend and delete deliveries. */
import { DateTime, Effect, Result } from "effect"
import type { Delivery, DeliveryId, Send } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
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
