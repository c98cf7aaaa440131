/** Random states of the rules, and random settlements of their deliveries. */
import { HashMap, Schema } from "effect"
import { DeliveryId, type Outcome } from "../src/Delivery.ts"
import { EndpointId } from "../src/Endpoint.ts"
import { type Event, EventId } from "../src/Event.ts"
import { at } from "../src/internal/contract/world.ts"
import type { DeliveryState } from "../src/internal/rules/deliveryRules.ts"
import * as Outbox from "../src/internal/rules/Outbox.ts"
import { newestFirst } from "../src/internal/rules/settlement.ts"
import type { EndpointRecord, Settlement } from "../src/WebhookStore.ts"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

/** A random state. Numbers choose among a few values, so that coincidences are frequent. */
export const State = Schema.Struct({
  endpoints: Schema.Array(Schema.Struct({ isRemoved: Small, isDisabled: Small, secrets: Small, failing: Small })).check(
    Schema.isMinLength(3),
    Schema.isMaxLength(3)
  ),
  deliveries: Schema.Array(Schema.Struct({
    endpoint: Small,
    event: Small,
    status: Small,
    due: Small,
    begun: Small,
    claims: Small,
    claimsVoid: Small,
    isClaimed: Small,
    failedSends: Small,
    body: Small
  })).check(Schema.isMinLength(4), Schema.isMaxLength(14)),
  sends: Schema.Array(Schema.Struct({ delivery: Small, claims: Small, at: Small, reason: Small })).check(
    Schema.isMaxLength(12)
  )
})

/** Ids of the endpoints of every state, in order. */
export const endpointIds = [1, 2, 3].map((n) => EndpointId.fromUuid(uuidOf(1, n)))

/** Builds a state. Also returns the endpoints that it has removed. */
export const build = ({ deliveries, endpoints, sends }: typeof State.Type) => {
  const records = endpoints.map(recordOf)
  const removed = endpointIds.filter((_, index) => endpoints[index]!.isRemoved === 0)
  const states = deliveries.map(deliveryOf)
  const events = Map.groupBy(states, ({ event }) => event)
  const lines = sends.flatMap(({ at: second, claims, delivery, reason }) => {
    const found = states[delivery]
    const line: Outbox.LoggedSend | undefined = found && {
      delivery: found.id,
      claims,
      type: found.type,
      attempt: 1 + claims,
      at: at(second),
      durationMillis: second * 1.5,
      ...outcomes[reason % outcomes.length]!
    }
    return line === undefined ? [] : [{ endpoint: found!.endpoint, line }]
  })
  const unique = new Map(lines.map((line) => [`${line.line.delivery} ${line.line.claims}`, line]))
  const outbox: Outbox.Outbox = {
    ...Outbox.putDeliveries(Outbox.empty, states),
    endpoints: HashMap.fromIterable(
      records.filter(({ endpoint }) => !removed.includes(endpoint.id)).map((record) => [record.endpoint.id, record])
    ),
    failing: HashMap.fromIterable(
      endpoints.flatMap(({ failing }, index) => {
        const id = endpointIds[index]!
        return failing < 3 || removed.includes(id) ? [] : [[id, at(failing - 3)] as const]
      })
    ),
    events: HashMap.fromIterable(Array.from(events, ([id, of]) => [id, eventOf(id, of.length)])),
    sends: HashMap.fromIterable(
      Array.from(
        Map.groupBy(unique.values(), ({ endpoint }) => endpoint),
        ([endpoint, of]) => [endpoint, of.map(({ line }) => line).toSorted(newestFirst)]
      )
    )
  }
  return { outbox, removed }
}

/** Returns a settlement of a delivery, by its newest claim or, rarely, by another one. */
export const settlementOf = (
  { claims, id }: { readonly claims: number; readonly id: DeliveryId },
  [stale, next, reason, second]: readonly [number, number, number, number]
): Settlement => ({
  delivery: id,
  claims: stale === 0 ? claims + 1 : stale === 1 ? Math.max(0, claims - 1) : claims,
  next: next < 2
    ? { _tag: "Delivered" }
    : next < 4
    ? { _tag: "Failed" }
    : { _tag: "Again", dueAt: at(10 + second) },
  send: reason === 5
    ? null
    : { outcome: outcomes[reason % outcomes.length]!, attempt: 1 + second, at: at(second), durationMillis: second / 4 },
  body: second % 2 === 0 ? undefined : new Uint8Array(10 + second)
})

const outcomes: ReadonlyArray<Outcome> = [
  { reason: "ok", httpStatus: 204 },
  { reason: "status_500", httpStatus: 500 },
  { reason: "disabled", httpStatus: null },
  { reason: "timeout", httpStatus: null },
  { reason: "disabled", httpStatus: null }
]

function uuidOf(kind: number, n: number): string {
  return `0190a8e0-0000-7000-800${kind}-${String(n).padStart(12, "0")}`
}

const recordOf = (
  { isDisabled, secrets }: (typeof State.Type)["endpoints"][number],
  index: number
): EndpointRecord => ({
  endpoint: {
    id: endpointIds[index]!,
    account: "account",
    url: "https://example.com",
    types: null,
    status: isDisabled === 0 ? "disabled" : "enabled",
    createdAt: at(0),
    secretCreatedAt: at(0)
  },
  secrets: [
    { sealed: "key.newest", createdAt: at(0), expiresAt: null },
    ...Array.from({ length: secrets % 3 }, (_, n) => ({
      sealed: `key.${n}`,
      createdAt: at(0),
      expiresAt: at(secrets + n)
    }))
  ]
})

const eventIdOf = (n: number) => EventId.fromUuid(uuidOf(2, n))

/** Events have data of different sizes. */
const eventOf = (id: EventId, deliveries: number): Outbox.EventState => {
  const data = { text: "ü".repeat(Number(EventId.toUuid(id).slice(-1))) }
  const event: Event = { id, account: "account", type: "order.paid", data, createdAt: at(0) }
  return { event, dataBytes: new TextEncoder().encode(JSON.stringify(data)).length, deliveries }
}

const deliveryOf = (
  { begun, body, claims, claimsVoid, due, endpoint, event, failedSends, isClaimed, status }:
    (typeof State.Type)["deliveries"][number],
  index: number
): DeliveryState => {
  const isPending = status > 1
  return {
    id: DeliveryId.fromUuid(uuidOf(3, index)),
    event: eventIdOf(event),
    endpoint: endpointIds[endpoint % 3]!,
    type: "order.paid",
    subject: null,
    status: isPending ? "pending" : status === 0 ? "delivered" : "failed",
    failedSends,
    createdAt: at(0),
    dueAt: isPending ? at(due) : null,
    begunAt: at(begun),
    claims,
    claimsVoid: Math.min(claims, claimsVoid),
    isClaimed: isPending && isClaimed > 1 && claims > claimsVoid,
    body: isPending && body > 2 ? new Uint8Array(body) : null
  }
}
