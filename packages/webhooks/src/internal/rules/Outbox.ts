/**
 * The state of webhooks: endpoints, events, deliveries and logs. Immutable; the rules are in
 * the other files of this folder. The memory store holds one, and property tests hold the SQL
 * store to it.
 */
import * as Decision from "@kinora/persistence/Decision"
import { DateTime, HashMap, Option, Result } from "effect"
import type { Claim, DeliveryId, Send } from "../../Delivery.ts"
import type { EndpointId } from "../../Endpoint.ts"
import type { Event, EventId } from "../../Event.ts"
import type {
  EndpointRecord,
  FailedRestart,
  FailedRestarted,
  FrozenBody,
  InsertedEvent,
  NewDelivery
} from "../../WebhookStore.ts"
import { type DeliveryState, published } from "./deliveryRules.ts"
import * as DeliveryRules from "./deliveryRules.ts"

/** A published event. */
export interface EventState {
  readonly event: Event
  /** Bytes of its `data` as JSON. */
  readonly dataBytes: number
  /** Number of its deliveries. The event is deleted with the last one. */
  readonly deliveries: number
}

/** A line of a log, with its key: each claim has at most one. */
export interface LoggedSend extends Send {
  readonly claims: number
}

/** The state. */
export interface Outbox {
  readonly endpoints: HashMap.HashMap<EndpointId, EndpointRecord>
  readonly events: HashMap.HashMap<EventId, EventState>
  readonly deliveries: HashMap.HashMap<DeliveryId, DeliveryState>
  /** The pending deliveries of each endpoint, so that the cost of a claim does not depend on ended ones. */
  readonly pending: HashMap.HashMap<EndpointId, HashMap.HashMap<DeliveryId, DeliveryState>>
  /** The log of each endpoint, newest first. */
  readonly sends: HashMap.HashMap<EndpointId, ReadonlyArray<LoggedSend>>
  /** The endpoints whose newest sends all failed, with the time of the first failure. */
  readonly failing: HashMap.HashMap<EndpointId, DateTime.Utc>
}

/** A state without endpoints. */
export const empty: Outbox = {
  endpoints: HashMap.empty(),
  events: HashMap.empty(),
  deliveries: HashMap.empty(),
  pending: HashMap.empty(),
  sends: HashMap.empty(),
  failing: HashMap.empty()
}

/** Adds or replaces an endpoint with its secrets. Forgets its failures. */
export const putEndpoint = (outbox: Outbox, record: EndpointRecord): Decision.Decision<Outbox, void> => {
  const { id } = record.endpoint
  const endpoints = HashMap.set(outbox.endpoints, id, record)
  return Decision.accept({ ...outbox, endpoints, failing: HashMap.remove(outbox.failing, id) }, undefined)
}

/** Replaces the secrets of an endpoint. */
export const putSecrets = (outbox: Outbox, record: EndpointRecord): Decision.Decision<Outbox, void> => {
  const endpoints = HashMap.set(outbox.endpoints, record.endpoint.id, record)
  return Decision.accept({ ...outbox, endpoints }, undefined)
}

/** Removes an endpoint with its secrets. `sweep` deletes its deliveries and its log. */
export const removeEndpoint = (outbox: Outbox, id: EndpointId): Decision.Decision<Outbox, void> =>
  Decision.accept({
    ...outbox,
    endpoints: HashMap.remove(outbox.endpoints, id),
    failing: HashMap.remove(outbox.failing, id)
  }, undefined)

/** Adds events with their deliveries. */
export const publish = (
  outbox: Outbox,
  { deliveries, events }: {
    readonly events: ReadonlyArray<InsertedEvent>
    readonly deliveries: ReadonlyArray<NewDelivery>
  }
): Decision.Decision<Outbox, void> => {
  const byEvent = Map.groupBy(deliveries, ({ event }) => event)
  const added = events.flatMap((event) => (byEvent.get(event.id) ?? []).map((delivery) => published(delivery, event)))
  const withEvents: Outbox = {
    ...outbox,
    events: HashMap.setMany(
      outbox.events,
      events.map(({ subject: _, ...event }) =>
        [event.id, {
          event,
          dataBytes: utf8.encode(JSON.stringify(event.data)).length,
          deliveries: byEvent.get(event.id)?.length ?? 0
        }] as const
      )
    )
  }
  return Decision.accept(putDeliveries(withEvents, added), undefined)
}

/** Decides on one delivery. */
export const changeDelivery = <A, Refusal>(
  outbox: Outbox,
  id: DeliveryId,
  decide: (delivery: DeliveryState) => Decision.Decision<DeliveryState, A, Refusal>
): Decision.Decision<Outbox, A, Refusal | "NotFound"> => {
  const found = HashMap.get(outbox.deliveries, id)
  if (Option.isNone(found)) return Result.fail("NotFound")
  return Result.map(decide(found.value), ({ state, value }) => ({ state: putDeliveries(outbox, [state]), value }))
}

/** Stores the bodies of claimed deliveries. */
export const freeze = (
  outbox: Outbox,
  bodies: ReadonlyArray<FrozenBody>
): Decision.DecidedAll<Outbox, void, "NotClaimed" | "NotFound"> =>
  Decision.all(
    outbox,
    bodies,
    (outbox, { body, delivery }) => changeDelivery(outbox, delivery, (state) => DeliveryRules.freeze(state, body))
  )

/** Restarts an ended delivery. */
export const restart = (
  outbox: Outbox,
  { at, id }: { readonly id: DeliveryId; readonly at: DateTime.Utc }
): Decision.DecidedAll<Outbox, void, "NotFound" | "Pending"> =>
  Decision.all(
    outbox,
    [id],
    (outbox, id) => changeDelivery(outbox, id, (delivery) => DeliveryRules.restart(delivery, at))
  )

/** Restarts the failed deliveries of an endpoint since a time, oldest first, as far as the limit of the account permits. */
export const restartFailed = (
  outbox: Outbox,
  { account, at, endpoint, pendingMax, since }: FailedRestart
): Decision.Decision<Outbox, FailedRestarted> => {
  const own = Array.from(HashMap.values(outbox.endpoints)).filter((record) => record.endpoint.account === account)
  if (!own.some((record) => record.endpoint.id === endpoint)) {
    return Decision.accept(outbox, { restarted: 0, left: 0 })
  }
  const pending = own.reduce((sum, record) => sum + pendingOf(outbox, record.endpoint.id).length, 0)
  const failed = Array.from(HashMap.values(outbox.deliveries))
    .filter((delivery) =>
      delivery.endpoint === endpoint && delivery.status === "failed" &&
      DateTime.isGreaterThanOrEqualTo(delivery.createdAt, since)
    )
    .toSorted((a, b) => a.id < b.id ? -1 : 1)
  const chosen = failed.slice(0, Math.max(0, pendingMax - pending))
  const restarted = chosen.flatMap((delivery) =>
    Option.toArray(Result.getSuccess(DeliveryRules.restart(delivery, at))).map(({ state }) => state)
  )
  return Decision.accept(putDeliveries(outbox, restarted), {
    restarted: restarted.length,
    left: failed.length - restarted.length
  })
}

/** Releases the claims that still hold. */
export const release = (
  outbox: Outbox,
  { at, claims }: { readonly claims: ReadonlyArray<Claim>; readonly at: DateTime.Utc }
): Decision.DecidedAll<Outbox, void, "ClaimLost" | "NotFound"> =>
  Decision.all(
    outbox,
    claims,
    (outbox, claim) =>
      changeDelivery(outbox, claim.delivery, (delivery) => DeliveryRules.release(delivery, { claim, at }))
  )

/** Returns the pending deliveries of an endpoint. */
export const pendingOf = ({ pending }: Outbox, endpoint: EndpointId): ReadonlyArray<DeliveryState> =>
  Option.match(HashMap.get(pending, endpoint), { onNone: () => [], onSome: HashMap.toValues })

/** Returns the log of an endpoint, newest first. */
export const sendsOf = ({ sends }: Outbox, endpoint: EndpointId): ReadonlyArray<LoggedSend> =>
  Option.getOrElse(HashMap.get(sends, endpoint), () => [])

/** Replaces deliveries. */
export const putDeliveries = (outbox: Outbox, changed: ReadonlyArray<DeliveryState>): Outbox => ({
  ...outbox,
  deliveries: HashMap.setMany(outbox.deliveries, changed.map((delivery) => [delivery.id, delivery] as const)),
  pending: HashMap.mutate(outbox.pending, (pending) => {
    for (const delivery of changed) {
      const known = Option.getOrElse(
        HashMap.get(pending, delivery.endpoint),
        () => HashMap.empty<DeliveryId, DeliveryState>()
      )
      HashMap.set(
        pending,
        delivery.endpoint,
        delivery.status === "pending" ? HashMap.set(known, delivery.id, delivery) : HashMap.remove(known, delivery.id)
      )
    }
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const utf8 = new TextEncoder()
