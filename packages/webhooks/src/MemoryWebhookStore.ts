/** Endpoints, events, deliveries and logs in this process's memory, for tests and for hosts that keep nothing. */
import { MemoryBackend, type MemoryMap } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import type { Claim, Claimed, Delivery, DeliveryId, Send } from "./Delivery.ts"
import type { EndpointId } from "./Endpoint.ts"
import type { Event, EventId } from "./Event.ts"
import { type Due, type EndpointRecord, type NewDelivery, type Settlement, WebhookStore } from "./WebhookStore.ts"

/** A store in memory. */
export const layer: Layer.Layer<WebhookStore, never, MemoryBackend> = Layer.effect(
  WebhookStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const endpoints = memory.makeMap<EndpointId, EndpointRecord>()
    const events = memory.makeMap<EventId, Event>()
    const deliveries = memory.makeMap<DeliveryId, Stored>()
    const sends = memory.makeMap<string, LoggedSend>()
    // Those of each endpoint that are not over, so that what is kept for a week costs a claim nothing.
    const pending = new Map<EndpointId, MemoryMap<DeliveryId, Stored>>()

    const pendingOf = (endpoint: EndpointId) => {
      const found = pending.get(endpoint) ?? memory.makeMap<DeliveryId, Stored>()
      pending.set(endpoint, found)
      return found
    }
    const put = (delivery: Stored) => {
      deliveries.set(delivery.id, delivery)
      if (delivery.status === "pending") pendingOf(delivery.endpoint).set(delivery.id, delivery)
      else pendingOf(delivery.endpoint).delete(delivery.id)
    }
    /** Deletes deliveries, and the events that no other delivery is of. */
    const removeAll = (removed: ReadonlyArray<Stored>) => {
      for (const { endpoint, id } of removed) {
        deliveries.delete(id)
        pendingOf(endpoint).delete(id)
      }
      const needed = new Set(Array.from(deliveries.values(), ({ event }) => event))
      for (const { event } of removed) if (!needed.has(event)) events.delete(event)
    }
    const accountOf = (id: EndpointId) => endpoints.get(id)?.endpoint.account
    const isGone = ({ endpoint }: { readonly endpoint: EndpointId }) => !endpoints.has(endpoint)
    const held = ({ claims, delivery }: Claim): Stored | undefined => {
      const found = deliveries.get(delivery)
      return found?.isClaimed === true && found.claims === claims ? found : undefined
    }
    const linesOf = (endpoint: EndpointId) =>
      Array.from(sends.values()).filter((send) => send.endpoint === endpoint).toSorted(newestSendFirst)

    const insert = ({ endpoint, id }: NewDelivery, { createdAt, id: event, type }: Event, dataBytes: number) =>
      put({
        id,
        event,
        endpoint,
        type,
        dataBytes,
        status: "pending",
        failedSends: 0,
        createdAt,
        dueAt: createdAt,
        begunAt: createdAt,
        claims: 0,
        claimsVoid: 0,
        isClaimed: false,
        body: null
      })

    const claimOne = (
      delivery: Stored,
      { endpoint, secrets }: EndpointRecord,
      now: DateTime.Utc,
      until: DateTime.Utc
    ) => {
      const claimed = { ...delivery, claims: delivery.claims + 1, isClaimed: true, dueAt: until }
      put(claimed)
      return {
        delivery: claimed.id,
        claims: claimed.claims,
        endpoint,
        secrets: secrets.filter(({ expiresAt }) => expiresAt === null || DateTime.isGreaterThan(expiresAt, now)),
        event: events.get(claimed.event)!,
        dueAt: delivery.dueAt ?? now,
        attempt: claimed.claims - claimed.claimsVoid,
        failedSends: claimed.failedSends,
        body: claimed.body
      } satisfies Claimed
    }

    /** Notes a send once, also when it is told again. */
    const log = ({ claims, delivery, send }: Settlement) => {
      const found = deliveries.get(delivery)
      if (send === null || found === undefined || sends.has(`${delivery} ${claims}`)) return
      const { outcome, ...rest } = send
      const { endpoint, type } = found
      if (outcome.reason === "disabled" && linesOf(endpoint)[0]?.reason === "disabled") return
      sends.set(`${delivery} ${claims}`, { ...rest, ...outcome, delivery, type, claims, endpoint })
    }

    return WebhookStore.of({
      countEndpoints: (account) =>
        memory.access(() =>
          Array.from(endpoints.values()).filter(({ endpoint }) => endpoint.account === account).length
        ),

      insertEndpoint: (record) => memory.access(() => endpoints.set(record.endpoint.id, record)),

      findEndpoints: (accounts) =>
        memory.access(() =>
          Array.from(endpoints.values(), ({ endpoint }) => endpoint)
            .filter(({ account }) => accounts.includes(account))
            .toSorted((a, b) => DateTime.Order(a.createdAt, b.createdAt) || compare(a.id, b.id))
        ),

      loadEndpoint: (account, id) => memory.access(() => accountOf(id) === account ? endpoints.get(id) : undefined),

      saveEndpoint: (record) => memory.access(() => endpoints.set(record.endpoint.id, record)),

      removeEndpoint: (id) => memory.access(() => endpoints.delete(id)),

      publish: (published, created) =>
        memory.access(() => {
          for (const event of published) {
            events.set(event.id, event)
            const dataBytes = utf8.encode(JSON.stringify(event.data)).length
            for (const delivery of created) if (delivery.event === event.id) insert(delivery, event, dataBytes)
          }
        }),

      loadDelivery: (account, id) =>
        memory.access(() => {
          const found = deliveries.get(id)
          return found !== undefined && accountOf(found.endpoint) === account ? toDelivery(found) : undefined
        }),

      restart: (id, at) =>
        memory.access(() => {
          const { claims, ...rest } = deliveries.get(id)!
          put({
            ...rest,
            status: "pending",
            dueAt: at,
            begunAt: at,
            failedSends: 0,
            claims,
            claimsVoid: claims,
            body: null
          })
        }),

      listDeliveries: (endpoint, limit, before) =>
        memory.access(() =>
          isGone({ endpoint }) ? [] : Array.from(deliveries.values())
            .filter((delivery) => delivery.endpoint === endpoint && (before === undefined || delivery.id < before))
            .toSorted((a, b) => compare(b.id, a.id))
            .slice(0, limit)
            .map(toDelivery)
        ),

      listSends: (endpoint, limit) =>
        memory.access(() => isGone({ endpoint }) ? [] : linesOf(endpoint).slice(0, limit).map(toSend)),

      due: (now, limit, after) =>
        memory.access(() => {
          const due: Array<Due> = []
          let nextAt: DateTime.Utc | null = null
          for (const endpoint of Array.from(pending.keys()).toSorted(compare)) {
            const account = accountOf(endpoint)
            const first = Array.from(pendingOf(endpoint).values()).toSorted(byDueAt)[0]?.dueAt
            if (account === undefined || !first || (after !== undefined && endpoint <= after)) continue
            if (due.length === limit) break
            if (DateTime.isLessThanOrEqualTo(first, now)) due.push({ endpoint, account })
            else nextAt = nextAt === null ? first : DateTime.min(nextAt, first)
          }
          return { endpoints: due, nextAt }
        }),

      claim: (demands, now, until, bytesMax = Infinity) =>
        memory.access(() => {
          const found = demands.flatMap(({ endpoint, limit }) => {
            const record = endpoints.get(endpoint)
            return record === undefined ? [] : Array.from(pendingOf(endpoint).values())
              .filter(({ dueAt }) => dueAt !== null && DateTime.isLessThanOrEqualTo(dueAt, now))
              .toSorted(byDueAt)
              .slice(0, limit)
              .map((delivery, turn) => ({ delivery, record, turn }))
          })
          let bytes = 0
          return found
            .toSorted((a, b) => a.turn - b.turn)
            .filter(({ delivery: { body, dataBytes } }, index) => {
              bytes += dataBytes + (body?.length ?? 0)
              return index === 0 || bytes <= bytesMax
            })
            .map(({ delivery, record }) => claimOne(delivery, record, now, until))
        }),

      freeze: (bodies) =>
        memory.access(() => {
          for (const { body, delivery } of bodies) {
            const found = deliveries.get(delivery)
            if (found !== undefined) put({ ...found, body })
          }
        }),

      settle: (settlements) =>
        memory.access(() =>
          settlements.flatMap((settlement) => {
            const found = held(settlement)
            log(settlement)
            if (found === undefined) return []
            put(settled(found, settlement))
            return [found.id]
          })
        ),

      release: (claims, at) =>
        memory.access(() => {
          for (const claim of claims) {
            const found = held(claim)
            if (found !== undefined) {
              put({ ...found, isClaimed: false, claimsVoid: found.claimsVoid + 1, dueAt: at })
            }
          }
        }),

      expire: (before, now, limit) =>
        memory.access(() => {
          const old = Array.from(deliveries.values())
            .filter(({ begunAt, status }) => status === "pending" && DateTime.isLessThan(begunAt, before))
            .filter(({ dueAt, isClaimed }) => !isClaimed || dueAt === null || DateTime.isLessThanOrEqualTo(dueAt, now))
            .toSorted((a, b) => DateTime.Order(a.begunAt, b.begunAt))
            .slice(0, limit)
          for (const delivery of old) put(ended(delivery, "failed"))
          return old.length
        }),

      sweep: (before, limit) =>
        memory.access(() => {
          const old = Array.from(deliveries.values())
            .filter((delivery) =>
              isGone(delivery) || (delivery.status !== "pending" && DateTime.isLessThan(delivery.begunAt, before))
            )
            .slice(0, limit)
          const lines = Array.from(sends.values()).filter(isGone).slice(0, limit - old.length)
          removeAll(old)
          for (const line of lines) sends.delete(keyOf(line))
          return old.length + lines.length
        }),

      trimSends: (kept, limit) =>
        memory.access(() => {
          const lines = Array.from(endpoints.values())
            .flatMap(({ endpoint }) => linesOf(endpoint.id).slice(kept))
            .slice(0, limit)
          for (const line of lines) sends.delete(keyOf(line))
          return lines.length
        }),

      findStaleSecrets: (prefix, now, limit) =>
        memory.access(() =>
          Array.from(endpoints.values())
            .filter(({ secrets }) =>
              secrets.some(({ expiresAt, sealed }) =>
                !sealed.startsWith(prefix) || (expiresAt !== null && DateTime.isLessThanOrEqualTo(expiresAt, now))
              )
            )
            .slice(0, limit)
            .map(({ endpoint: { account, id } }) => ({ account, id }))
        )
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Stored extends Delivery {
  /** Of its event's data, as JSON. */
  readonly dataBytes: number
  /** When this series began. */
  readonly begunAt: DateTime.Utc
  readonly claims: number
  /** Of these, those that are no attempts of this series. */
  readonly claimsVoid: number
  /** Whether the newest claim is neither settled nor given back. */
  readonly isClaimed: boolean
  readonly body: Uint8Array | null
}

interface LoggedSend extends Send {
  readonly endpoint: EndpointId
  readonly claims: number
}

const toDelivery = (
  { createdAt, dueAt, endpoint, event, failedSends, id, status, type }: Stored
): Delivery => ({ id, event, endpoint, type, status, failedSends, createdAt, dueAt })

const toSend = ({ claims: _claims, endpoint: _endpoint, ...send }: LoggedSend): Send => send

const utf8 = new TextEncoder()

const keyOf = ({ claims, delivery }: LoggedSend) => `${delivery} ${claims}`

const compare = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0

const byDueAt = (a: Stored, b: Stored) =>
  (a.dueAt === null || b.dueAt === null ? 0 : DateTime.Order(a.dueAt, b.dueAt)) || compare(a.id, b.id)

const newestSendFirst = (a: LoggedSend, b: LoggedSend) =>
  DateTime.Order(b.at, a.at) || compare(b.delivery, a.delivery) || b.claims - a.claims

/** Ended deliveries keep no body: a series that begins by hand makes one anew. */
const ended = (delivery: Stored, status: "delivered" | "failed"): Stored => ({
  ...delivery,
  status,
  dueAt: null,
  isClaimed: false,
  body: null
})

const settled = (delivery: Stored, { next, send }: Settlement): Stored => {
  if (next._tag === "Delivered") return ended(delivery, "delivered")
  const isFailedSend = send !== null && send.outcome.reason !== "disabled"
  const failed = { ...delivery, failedSends: delivery.failedSends + (isFailedSend ? 1 : 0) }
  return next._tag === "Failed" ? ended(failed, "failed") : { ...failed, dueAt: next.dueAt, isClaimed: false }
}
