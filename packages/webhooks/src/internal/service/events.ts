/** The methods of `Webhooks` that publish events. */
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { DeliveryId } from "../../Delivery.ts"
import type { Endpoint, EndpointId } from "../../Endpoint.ts"
import { EventId, type NewEvent, testType } from "../../Event.ts"
import { EndpointDisabled, EndpointNotFound } from "../../WebhooksError.ts"
import type { InsertedEvent, NewDelivery } from "../../WebhookStore.ts"
import { accepts } from "../rules/endpointRules.ts"
import type { Dependencies } from "./Dependencies.ts"
import { getEndpoint } from "./endpointRecord.ts"
import { isEventType } from "./eventTypes.ts"
import { refuse } from "./refusal.ts"

/** The methods of `Webhooks` for events. */
export const methods = (self: Dependencies) => ({
  publish: Effect.fn("Webhooks.publish")(
    (events: ReadonlyArray<NewEvent>) => publish(self, events),
    self.unitOfWork.atomically
  ),
  test: Effect.fn("Webhooks.test")((account: string, id: EndpointId) => test(self, account, id))
})

/** Publishes events in the open unit of work. */
export const publish = Effect.fnUntraced(function*(self: Dependencies, events: ReadonlyArray<NewEvent>) {
  yield* Effect.forEach(events, (event) => check(self, event), { discard: true })
  if (events.length === 0) return
  const endpoints = yield* self.store.findEndpoints([...new Set(events.map(({ account }) => account))])
  const addressed = events
    .map((event) => ({
      event,
      endpoints: endpoints.filter((endpoint) => endpoint.account === event.account && accepts(endpoint, event.type))
    }))
    .filter(({ endpoints }) => endpoints.length > 0)
  if (addressed.length > 0) yield* insert(self, addressed)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An event with the endpoints that receive it. */
interface Addressed {
  readonly event: NewEvent
  readonly endpoints: ReadonlyArray<Endpoint>
}

const test = Effect.fnUntraced(function*(self: Dependencies, account: string, id: EndpointId) {
  const endpoint = yield* getEndpoint(self, account, id)
  if (endpoint.status === "disabled") return yield* refuse(new EndpointDisabled({ endpoint: id }))
  const event = { account, type: testType, data: {} }
  const [inserted] = yield* self.unitOfWork.atomically(insert(self, [{ event, endpoints: [endpoint] }]))
  const delivery = yield* self.store.loadDelivery(account, inserted!.id)
  // The endpoint may have been removed meanwhile.
  return delivery ?? (yield* refuse(new EndpointNotFound({ endpoint: id })))
})

/** Inserts events with their deliveries, and wakes the workers after the commit. */
const insert = Effect.fnUntraced(function*(
  { random, store, unitOfWork, wakeup }: Dependencies,
  addressed: ReadonlyArray<Addressed>
) {
  const { deliveries, events } = yield* Effect.provideService(build(addressed), SecureRandom.SecureRandom, random)
  yield* store.publish(events, deliveries)
  yield* unitOfWork.afterCommit(wakeup.wake)
  return deliveries
})

const build = Effect.fnUntraced(function*(addressed: ReadonlyArray<Addressed>) {
  const createdAt = yield* DateTime.now
  const events: Array<InsertedEvent> = []
  const deliveries: Array<NewDelivery> = []
  for (const { endpoints, event } of addressed) {
    const id = yield* EventId.make
    events.push({ ...event, id, createdAt })
    for (const endpoint of endpoints) {
      deliveries.push({ id: yield* DeliveryId.make, event: id, endpoint: endpoint.id })
    }
  }
  return { events, deliveries }
})

/** Characters of the subject of an event. */
const subjectMax = 128

const utf8 = new TextEncoder()

/** Dies if an event is invalid, which is a bug of the caller. */
const check = ({ limits: { dataBytesMax } }: Dependencies, { data, subject, type }: NewEvent): Effect.Effect<void> => {
  if (!isEventType(type)) {
    return Effect.die(new Error(`Invalid event type ${JSON.stringify(type)}: use 1 to 64 of a-z, 0-9, _ and dot`))
  }
  if (subject !== undefined && subject.length > subjectMax) {
    return Effect.die(new Error(`The subject of an event of type ${type} has more than ${subjectMax} characters`))
  }
  const bytes = utf8.encode(JSON.stringify(data)).length
  return bytes > dataBytesMax
    ? Effect.die(new Error(`The data of an event of type ${type} has ${bytes} bytes; the maximum is ${dataBytesMax}`))
    : Effect.void
}
