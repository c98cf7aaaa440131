/** Expiry and deletion of old deliveries and lines of logs. */
import { accept, type Decision } from "@kinora/persistence/Decision"
import { DateTime, HashMap, Option, Result } from "effect"
import type { EndpointId } from "../../Endpoint.ts"
import type { EventId } from "../../Event.ts"
import { byText, type DeliveryState } from "./deliveryRules.ts"
import * as DeliveryRules from "./deliveryRules.ts"
import { type EventState, type LoggedSend, type Outbox, putDeliveries } from "./Outbox.ts"

/** Fails up to `limit` pending deliveries that began before `before`, oldest first. Returns their number. */
export const expire = (
  outbox: Outbox,
  { before, limit, now }: { readonly before: DateTime.Utc; readonly now: DateTime.Utc; readonly limit: number }
): Decision<Outbox, number> => {
  const expired = Array.from(HashMap.values(outbox.deliveries))
    .toSorted(oldestFirst)
    .flatMap((delivery) => {
      const decided = DeliveryRules.expire(delivery, { before, now })
      return Result.isSuccess(decided) ? [decided.success.state] : []
    })
    .slice(0, limit)
  return accept(putDeliveries(outbox, expired), expired.length)
}

/**
 * Deletes up to `limit` deliveries that ended and began before `before`, or whose endpoint was
 * removed, with events that have no further delivery. Deletes lines of removed endpoints, within
 * the rest of the limit. Returns the number of deliveries and lines.
 */
export const sweep = (
  outbox: Outbox,
  { before, limit }: { readonly before: DateTime.Utc; readonly limit: number }
): Decision<Outbox, number> => {
  const old = Array.from(HashMap.values(outbox.deliveries))
    .filter((delivery) =>
      !HashMap.has(outbox.endpoints, delivery.endpoint) ||
      (delivery.status !== "pending" && DateTime.isLessThan(delivery.begunAt, before))
    )
    .toSorted(oldestFirst)
    .slice(0, limit)
  const lines = Array.from(HashMap.entries(outbox.sends))
    .filter(([endpoint]) => !HashMap.has(outbox.endpoints, endpoint))
    .flatMap(([endpoint, lines]) => lines.map((line) => ({ endpoint, line })))
    .slice(0, limit - old.length)
  return accept(deleteLines(deleteDeliveries(outbox, old), lines), old.length + lines.length)
}

/**
 * Deletes all endpoints of an account with their deliveries and logs, and the deliveries of its events to removed endpoints.
 * Returns the number of deliveries, lines and endpoints.
 */
export const forget = (outbox: Outbox, account: string): Decision<Outbox, number> => {
  const own = Array.from(HashMap.values(outbox.endpoints), ({ endpoint }) => endpoint)
    .filter((endpoint) => endpoint.account === account)
  const endpoints = new Set(own.map(({ id }) => id))
  const deliveries = Array.from(HashMap.values(outbox.deliveries)).filter(({ endpoint, event }) =>
    endpoints.has(endpoint) || Option.getOrUndefined(HashMap.get(outbox.events, event))?.event.account === account
  )
  const ids = new Set(deliveries.map(({ id }) => id))
  const lines = Array.from(HashMap.entries(outbox.sends))
    .flatMap(([endpoint, lines]) => lines.map((line) => ({ endpoint, line })))
    .filter(({ endpoint, line }) => endpoints.has(endpoint) || ids.has(line.delivery))
  const rest = deleteLines(deleteDeliveries(outbox, deliveries), lines)
  return accept({
    ...rest,
    endpoints: HashMap.removeMany(rest.endpoints, endpoints),
    failing: HashMap.removeMany(rest.failing, endpoints),
    pending: HashMap.removeMany(rest.pending, endpoints)
  }, deliveries.length + lines.length + own.length)
}

/** Deletes lines of logs except the newest `kept` of each endpoint, up to `limit` lines. Returns their number. */
export const trimSends = (
  outbox: Outbox,
  { kept, limit }: { readonly kept: number; readonly limit: number }
): Decision<Outbox, number> => {
  const older = Array.from(HashMap.entries(outbox.sends))
    .filter(([endpoint]) => HashMap.has(outbox.endpoints, endpoint))
    .flatMap(([endpoint, lines]) => lines.slice(kept).map((line) => ({ endpoint, line })))
    .slice(0, limit)
  return accept(deleteLines(outbox, older), older.length)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const oldestFirst = (a: DeliveryState, b: DeliveryState): number =>
  DateTime.Order(a.begunAt, b.begunAt) || byText(a.id, b.id)

const deleteDeliveries = (outbox: Outbox, deleted: ReadonlyArray<DeliveryState>): Outbox => ({
  ...outbox,
  deliveries: HashMap.removeMany(outbox.deliveries, deleted.map(({ id }) => id)),
  pending: HashMap.mutate(outbox.pending, (pending) => {
    for (const { endpoint, id } of deleted) {
      const known = HashMap.get(pending, endpoint)
      if (Option.isSome(known)) HashMap.set(pending, endpoint, HashMap.remove(known.value, id))
    }
  }),
  events: HashMap.mutate(outbox.events, (events) => {
    for (const { event } of deleted) releaseEvent(events, event)
  })
})

/** Deletes the event of a deleted delivery if it was the last one. */
const releaseEvent = (events: HashMap.HashMap<EventId, EventState>, id: EventId): void => {
  const state = HashMap.getUnsafe(events, id)
  if (state.deliveries > 1) HashMap.set(events, id, { ...state, deliveries: state.deliveries - 1 })
  else HashMap.remove(events, id)
}

const deleteLines = (
  outbox: Outbox,
  deleted: ReadonlyArray<{ readonly endpoint: EndpointId; readonly line: LoggedSend }>
): Outbox => {
  const byEndpoint = Map.groupBy(deleted, ({ endpoint }) => endpoint)
  return {
    ...outbox,
    sends: HashMap.mutate(outbox.sends, (sends) => {
      for (const [endpoint, lines] of byEndpoint) {
        const gone = new Set(lines.map(({ line }) => line))
        const kept = HashMap.getUnsafe(sends, endpoint).filter((line) => !gone.has(line))
        if (kept.length === 0) HashMap.remove(sends, endpoint)
        else HashMap.set(sends, endpoint, kept)
      }
    })
  }
}
