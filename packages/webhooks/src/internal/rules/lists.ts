/** Queries of the state of webhooks. */
import { DateTime, type Duration, HashMap, Option } from "effect"
import type { Delivery, DeliveryId, Send } from "../../Delivery.ts"
import type { Endpoint, EndpointId } from "../../Endpoint.ts"
import type { Event } from "../../Event.ts"
import type { Due, DueList, EndpointRecord, FailingEndpoint } from "../../WebhookStore.ts"
import { byDueAt, byText, type DeliveryState, isDue } from "./deliveryRules.ts"
import { activeAt } from "./endpointRules.ts"
import { type Outbox, pendingOf, sendsOf } from "./Outbox.ts"

/** Returns the endpoint of an account. */
export const endpoint = ({ endpoints }: Outbox, account: string, id: EndpointId): EndpointRecord | undefined => {
  const found = Option.getOrUndefined(HashMap.get(endpoints, id))
  return found?.endpoint.account === account ? found : undefined
}

/** Returns the endpoints of accounts, oldest first. */
export const endpoints = ({ endpoints }: Outbox, accounts: ReadonlyArray<string>): ReadonlyArray<Endpoint> =>
  Array.from(HashMap.values(endpoints), ({ endpoint }) => endpoint)
    .filter(({ account }) => accounts.includes(account))
    .toSorted((a, b) => DateTime.Order(a.createdAt, b.createdAt) || byText(a.id, b.id))

/**
 * Returns up to `limit` enabled endpoints of which every send failed in a time of `after` until the newest one, in the order of
 * ids.
 */
export const failing = (
  outbox: Outbox,
  after: Duration.Duration,
  limit: number
): ReadonlyArray<FailingEndpoint> =>
  HashMap.toEntries(outbox.failing)
    .flatMap(([id, since]): ReadonlyArray<FailingEndpoint> => {
      const record = Option.getOrUndefined(HashMap.get(outbox.endpoints, id))
      const first = firstFailure(sendsOf(outbox, id), since)
      const newest = sendsOf(outbox, id)[0]
      const isFound = record?.endpoint.status === "enabled" && newest !== undefined && first !== undefined &&
        DateTime.isGreaterThanOrEqualTo(newest.at, DateTime.addDuration(first, after))
      return isFound ? [{ account: record.endpoint.account, id, since: first }] : []
    })
    .toSorted((a, b) => byText(a.id, b.id))
    .slice(0, limit)

/** Returns the delivery of an account's endpoint. */
export const delivery = (outbox: Outbox, account: string, id: DeliveryId): Delivery | undefined => {
  const found = Option.getOrUndefined(HashMap.get(outbox.deliveries, id))
  return found !== undefined && endpoint(outbox, account, found.endpoint) !== undefined ? toDelivery(found) : undefined
}

/** Returns the event of a delivery of an endpoint of an account. */
export const event = (outbox: Outbox, account: string, endpoint: EndpointId, id: DeliveryId): Event | undefined => {
  const found = delivery(outbox, account, id)
  return found?.endpoint !== endpoint
    ? undefined
    : Option.getOrUndefined(HashMap.get(outbox.events, found.event))?.event
}

/** Returns the newest deliveries of an endpoint, newest first, older than `before` if it is given. */
export const deliveries = (
  outbox: Outbox,
  endpoint: EndpointId,
  limit: number,
  before: DeliveryId | undefined
): ReadonlyArray<Delivery> =>
  !HashMap.has(outbox.endpoints, endpoint) ? [] : Array.from(HashMap.values(outbox.deliveries))
    .filter((delivery) => delivery.endpoint === endpoint && (before === undefined || delivery.id < before))
    .toSorted((a, b) => byText(b.id, a.id))
    .slice(0, limit)
    .map(toDelivery)

/** A query for the deliveries of an account's events about a subject. */
export interface AboutQuery {
  readonly account: string
  readonly subject: string
  readonly limit: number
}

/** Returns the newest deliveries about a subject, newest first. */
export const deliveriesAbout = (
  outbox: Outbox,
  { account, limit, subject }: AboutQuery
): ReadonlyArray<Delivery> =>
  Array.from(HashMap.values(outbox.deliveries))
    .filter((delivery) => delivery.subject === subject && endpoint(outbox, account, delivery.endpoint) !== undefined)
    .toSorted((a, b) => byText(b.id, a.id))
    .slice(0, limit)
    .map(toDelivery)

/** Returns the newest lines about deliveries in the logs of their endpoints, newest first. */
export const sendsAbout = (
  { sends }: Outbox,
  deliveries: ReadonlyArray<DeliveryId>,
  limit: number
): ReadonlyArray<Send> =>
  Array.from(HashMap.values(sends)).flat()
    .filter(({ delivery }) => deliveries.includes(delivery))
    .toSorted((a, b) => DateTime.Order(b.at, a.at) || byText(b.delivery, a.delivery) || b.claims - a.claims)
    .slice(0, limit)
    .map(({ claims: _claims, ...send }) => send)

/** Returns the newest lines of an endpoint's log, newest first. */
export const sends = (outbox: Outbox, endpoint: EndpointId, limit: number): ReadonlyArray<Send> =>
  HashMap.has(outbox.endpoints, endpoint)
    ? sendsOf(outbox, endpoint).slice(0, limit).map(({ claims: _claims, ...send }) => send)
    : []

/** A query for due endpoints. */
export interface DueQuery {
  readonly now: DateTime.Utc
  readonly limit: number
  readonly after: EndpointId | undefined
}

/** Returns up to `limit` endpoints with a due delivery, and when the next delivery of another one is due, in the order of ids. */
export const due = (outbox: Outbox, { after, limit, now }: DueQuery): DueList => {
  const found: Array<Due> = []
  let nextAt: DateTime.Utc | null = null
  for (const id of Array.from(HashMap.keys(outbox.pending)).toSorted(byText)) {
    const record = Option.getOrUndefined(HashMap.get(outbox.endpoints, id))
    const first = pendingOf(outbox, id).toSorted(byDueAt)[0]
    if (record === undefined || !first?.dueAt || (after !== undefined && id <= after)) continue
    if (found.length === limit) break
    if (isDue(first, now)) found.push({ endpoint: id, account: record.endpoint.account })
    else nextAt = nextAt === null ? first.dueAt : DateTime.min(nextAt, first.dueAt)
  }
  return { endpoints: found, nextAt }
}

/** Returns up to `limit` endpoints with an expired secret, or with one whose sealed text does not begin with `prefix`. */
export const staleSecrets = (
  { endpoints }: Outbox,
  { limit, now, prefix }: { readonly prefix: string; readonly now: DateTime.Utc; readonly limit: number }
): ReadonlyArray<Pick<Endpoint, "account" | "id">> =>
  Array.from(HashMap.values(endpoints))
    .filter(({ secrets }) =>
      secrets.some(({ sealed }) => !sealed.startsWith(prefix)) || activeAt(secrets, now).length < secrets.length
    )
    .map(({ endpoint: { account, id } }) => ({ account, id }))
    .toSorted((a, b) => byText(a.id, b.id))
    .slice(0, limit)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Returns the time of the first failure after the last success. `since` is the stored one. Outcomes can be stored in another
 * order than that of the sends, so the log can have a later success.
 */
const firstFailure = (sends: ReadonlyArray<Send>, since: DateTime.Utc): DateTime.Utc | undefined => {
  const success = sends.find(({ at, reason }) => reason === "ok" && DateTime.isGreaterThan(at, since))
  if (success === undefined) return since
  return sends.findLast(({ at, reason }) => reason !== "disabled" && DateTime.isGreaterThan(at, success.at))?.at
}

const toDelivery = (
  { createdAt, dueAt, endpoint, event, failedSends, id, status, subject, type }: DeliveryState
): Delivery => ({ id, event, endpoint, type, subject, status, failedSends, createdAt, dueAt })
