/** Endpoints and events for tests. */
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Claimed, DeliveryId } from "../../Delivery.ts"
import { type Endpoint, EndpointId } from "../../Endpoint.ts"
import { type Event, EventId, type NewEvent } from "../../Event.ts"
import { type EndpointRecord, type Settlement, WebhookStore } from "../../WebhookStore.ts"
import { makeAccount } from "./services.ts"

/** The moment `seconds` after the start of the tests. */
export const at = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(Date.UTC(2030, 0, 1) + seconds * 1_000)

/** A new account with endpoints, in a store that other tests use too. */
export const makeWorld = Effect.gen(function*() {
  const store = yield* WebhookStore
  const random = yield* SecureRandom.SecureRandom
  const make = <A>(id: Effect.Effect<A, never, SecureRandom.SecureRandom>) =>
    Effect.provideService(id, SecureRandom.SecureRandom, random)
  const account = yield* makeAccount

  const endpoint = Effect.fnUntraced(function*(change: Partial<Endpoint> = {}, sealed = "key.nonce.text") {
    const id = yield* make(EndpointId.make)
    const record: EndpointRecord = {
      endpoint: {
        id,
        account,
        url: `https://example.com/${id}`,
        types: null,
        status: "enabled",
        createdAt: at(0),
        secretCreatedAt: at(0),
        ...change
      },
      secrets: [{ sealed, createdAt: at(0), expiresAt: null }]
    }
    yield* store.insertEndpoint(record)
    return record
  })

  /** Publishes one event for these endpoints, due at `time`. */
  const publish = Effect.fnUntraced(function*(
    endpoints: ReadonlyArray<EndpointRecord>,
    time: DateTime.Utc = at(0),
    data: NewEvent["data"] = { n: 1 }
  ) {
    const event: Event = {
      id: yield* make(EventId.make),
      account,
      type: "order.paid",
      data,
      createdAt: time
    }
    const deliveries = yield* Effect.forEach(
      endpoints,
      ({ endpoint }) => Effect.map(make(DeliveryId.make), (id) => ({ id, event: event.id, endpoint: endpoint.id }))
    )
    yield* store.publish([event], deliveries)
    return { event, deliveries: deliveries.map(({ id }) => id) }
  })

  return { account, endpoint, publish }
})

/** The settlement of a claim after a send of 12 ms. */
export const settlementOf = (
  { attempt, claims, delivery }: Pick<Claimed, "attempt" | "claims" | "delivery">,
  next: Settlement["next"],
  time: DateTime.Utc = at(0)
): Settlement => ({
  delivery,
  claims,
  next,
  send: {
    outcome: next._tag === "Delivered"
      ? { reason: "ok", httpStatus: 204 }
      : { reason: "status_500", httpStatus: 500 },
    attempt,
    at: time,
    durationMillis: 12
  }
})
