/** What is published, and what an account sees of it and sends again. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Delivery, DeliveryId } from "../Delivery.ts"
import { accepts, type Endpoint, type EndpointId } from "../Endpoint.ts"
import { type Event, EventId, type NewEvent, testType } from "../Event.ts"
import { Wakeup } from "../Wakeup.ts"
import * as WebhooksError from "../WebhooksError.ts"
import { type NewDelivery, WebhookStore } from "../WebhookStore.ts"
import type { Endpoints } from "./endpoints.ts"
import { isEventType } from "./eventType.ts"
import type { Limits } from "./limits.ts"
import { refuse } from "./refuse.ts"

/** Makes the part of `Webhooks` that is about deliveries. */
export const make = Effect.fnUntraced(function*(limits: Limits, { get }: Pick<Endpoints, "get">) {
  const { dataBytesMax, keepFor, pendingMax, sendsKept } = limits
  const { afterCommit, atomically } = yield* UnitOfWork
  const random = yield* SecureRandom.SecureRandom
  const store = yield* WebhookStore
  const { wake } = yield* Wakeup

  const check = ({ data, type }: NewEvent): Effect.Effect<void> => {
    if (!isEventType(type)) return Effect.die(new Error("The type of an event has 1 to 64 of a-z, 0-9, _ and dot"))
    return utf8.encode(JSON.stringify(data)).length > dataBytesMax
      ? Effect.die(new Error(`The data of an event of type ${type} has more than ${dataBytesMax} bytes of JSON`))
      : Effect.void
  }

  /** Keeps events with their deliveries, whoever takes them, and wakes the workers once they are there. */
  const tell = Effect.fnUntraced(
    function*(told: ReadonlyArray<{ readonly event: NewEvent; readonly endpoints: ReadonlyArray<Endpoint> }>) {
      const createdAt = yield* DateTime.now
      const events: Array<Event> = []
      const deliveries: Array<NewDelivery> = []
      for (const { endpoints, event } of told) {
        const id = yield* EventId.make
        events.push({ ...event, id, createdAt })
        for (const endpoint of endpoints) {
          deliveries.push({ id: yield* DeliveryId.make, event: id, endpoint: endpoint.id })
        }
      }
      yield* store.publish(events, deliveries)
      yield* afterCommit(wake)
      return deliveries
    },
    Effect.provideService(SecureRandom.SecureRandom, random)
  )

  const publish = Effect.fn("Webhooks.publish")(function*(events: ReadonlyArray<NewEvent>) {
    yield* Effect.forEach(events, check, { discard: true })
    if (events.length === 0) return
    const endpoints = yield* store.findEndpoints([...new Set(events.map(({ account }) => account))])
    const told = events
      .map((event) => ({
        event,
        endpoints: endpoints.filter((endpoint) => endpoint.account === event.account && accepts(endpoint, event.type))
      }))
      .filter(({ endpoints }) => endpoints.length > 0)
    if (told.length > 0) yield* tell(told)
  }, atomically)

  const test = Effect.fn("Webhooks.test")(function*(account: string, id: EndpointId) {
    const endpoint = yield* get(account, id)
    if (endpoint.status === "disabled") return yield* refuse(new WebhooksError.EndpointDisabled({ endpoint: id }))
    const event = { account, type: testType, data: {} }
    const [told] = yield* atomically(tell([{ event, endpoints: [endpoint] }]))
    const delivery = yield* store.loadDelivery(account, told!.id)
    // The endpoint may have been removed in this moment.
    return delivery ?? (yield* refuse(new WebhooksError.EndpointNotFound({ endpoint: id })))
  })

  /** Begins the new series, or says why not. */
  const restart = Effect.fnUntraced(function*(account: string, id: DeliveryId) {
    const delivery = yield* store.loadDelivery(account, id)
    if (delivery === undefined) return new WebhooksError.DeliveryNotFound({ delivery: id })
    if (delivery.status === "pending") return new WebhooksError.DeliveryPending({ delivery: id })
    const endpoint = (yield* store.findEndpoints([account])).find((endpoint) => endpoint.id === delivery.endpoint)
    if (endpoint === undefined) return new WebhooksError.DeliveryNotFound({ delivery: id })
    if (endpoint.status === "disabled") return new WebhooksError.EndpointDisabled({ endpoint: endpoint.id })
    const at = yield* DateTime.now
    yield* store.restart(id, at)
    yield* afterCommit(wake)
    return { ...delivery, status: "pending", failedSends: 0, dueAt: at } satisfies Delivery
  }, atomically)

  const resend = Effect.fn("Webhooks.resend")(function*(account: string, id: DeliveryId) {
    const restarted = yield* restart(account, id)
    // A refusal leaves the unit as a value, so that it does not doom one that is open.
    return "_tag" in restarted ? yield* refuse(restarted) : restarted
  })

  const deliveries = Effect.fn("Webhooks.deliveries")(
    function*(
      account: string,
      id: EndpointId,
      { before, limit }: { readonly limit: number; readonly before?: DeliveryId | undefined }
    ) {
      yield* get(account, id)
      return yield* store.listDeliveries(id, Math.max(0, Math.min(limit, pageMax)), before)
    }
  )

  const sends = Effect.fn("Webhooks.sends")(function*(account: string, id: EndpointId) {
    yield* get(account, id)
    return yield* store.listSends(id, sendsKept)
  })

  const sweep = Effect.fn("Webhooks.sweep")(function*(limit: number) {
    const now = yield* DateTime.now
    const expired = yield* store.expire(DateTime.subtractDuration(now, pendingMax), now, limit)
    const swept = yield* store.sweep(DateTime.subtractDuration(now, keepFor), limit)
    const trimmed = yield* store.trimSends(sendsKept, limit)
    return expired + swept + trimmed
  })

  return { publish, test, resend, deliveries, sends, sweep }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const utf8 = new TextEncoder()

/** Deliveries in one answer. */
const pageMax = 100
