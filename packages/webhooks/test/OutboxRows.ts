/** A state of the rules as rows of the SQL store, and back. */
import { Rows } from "@kinora/persistence"
import { DateTime, Effect, HashMap, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryId, DeliveryStatus, Reason } from "../src/Delivery.ts"
import { EndpointId, EndpointStatus } from "../src/Endpoint.ts"
import { EventId } from "../src/Event.ts"
import type { DeliveryState } from "../src/internal/rules/deliveryRules.ts"
import type { LoggedSend, Outbox } from "../src/internal/rules/Outbox.ts"

/** Everything that a state contains, in a fixed order, for comparisons. */
export const contentOf = (outbox: Outbox) => ({
  endpoints: sorted(HashMap.toValues(outbox.endpoints), ({ endpoint }) => endpoint.id),
  events: sorted(HashMap.toValues(outbox.events), ({ event }) => event.id),
  deliveries: sorted(HashMap.toValues(outbox.deliveries), ({ id }) => id),
  pending: sorted(
    HashMap.toValues(outbox.pending).flatMap((pending) => HashMap.toValues(pending)),
    ({ id }) => id
  ),
  sends: sorted(
    HashMap.toEntries(outbox.sends).flatMap(([endpoint, lines]) => lines.map((line) => ({ endpoint, line }))),
    keyOf
  ),
  failing: sorted(HashMap.toEntries(outbox.failing), ([id]) => id)
})

/** The content of a state. */
export type Content = ReturnType<typeof contentOf>

/** Replaces all rows by a state. `removed` are the endpoints that the state no longer contains. */
export const save = Effect.fnUntraced(function*(outbox: Outbox, removed: ReadonlyArray<EndpointId>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`TRUNCATE webhooks_secret, webhooks_endpoint, webhooks_event, webhooks_delivery, webhooks_send, webhooks_failing CASCADE`
  const { deliveries, endpoints, events, failing, sends } = contentOf(outbox)
  yield* sql`
    INSERT INTO webhooks_endpoint (id, account, url, types, status, created_at, secret_created_at, is_removed)
    SELECT id, account, url, NULL, status, created_at, secret_created_at, is_removed
    FROM ${
    Rows.table("endpoint", [
      ...endpoints.map(({ endpoint }) => ({ ...endpoint, isRemoved: false })),
      ...removed.map((id) => ({ ...removedEndpoint, id, isRemoved: true }))
    ], {
      id: ["uuid", ({ id }) => EndpointId.toUuid(id)],
      account: ["text", ({ account }) => account],
      url: ["text", ({ url }) => url],
      status: ["text", ({ status }) => status],
      created_at: ["timestamptz", ({ createdAt }) => createdAt],
      secret_created_at: ["timestamptz", ({ secretCreatedAt }) => secretCreatedAt],
      is_removed: ["boolean", ({ isRemoved }) => isRemoved]
    })
  }
  `
  yield* sql`
    INSERT INTO webhooks_secret ${
    Rows.unnest(
      endpoints.flatMap(({ endpoint, secrets }) =>
        secrets.map((secret, place) => ({ ...secret, place, endpoint: endpoint.id }))
      ),
      {
        endpoint_id: ["uuid", ({ endpoint }) => EndpointId.toUuid(endpoint)],
        place: ["int4", ({ place }) => place],
        sealed: ["text", ({ sealed }) => sealed],
        created_at: ["timestamptz", ({ createdAt }) => createdAt],
        expires_at: ["timestamptz?", ({ expiresAt }) => expiresAt]
      }
    )
  }
  `
  yield* sql`
    INSERT INTO webhooks_event ${
    Rows.unnest(events, {
      id: ["uuid", ({ event }) => EventId.toUuid(event.id)],
      account: ["text", ({ event }) => event.account],
      type: ["text", ({ event }) => event.type],
      data: ["json", ({ event }) => event.data],
      created_at: ["timestamptz", ({ event }) => event.createdAt]
    })
  }
  `
  yield* sql`
    INSERT INTO webhooks_failing ${
    Rows.unnest(failing, {
      endpoint_id: ["uuid", ([id]) => EndpointId.toUuid(id)],
      since: ["timestamptz", ([, since]) => since]
    })
  }
  `
  yield* insertDeliveries(deliveries)
  yield* insertSends(sends)
})

/** Reads the content of a state from the rows. */
export const load = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const endpoints = yield* sql`
    SELECT endpoint.*, (
      SELECT coalesce(json_agg(json_build_object(
        'sealed', sealed, 'createdAt', created_at, 'expiresAt', expires_at
      ) ORDER BY place), '[]')
      FROM webhooks_secret WHERE endpoint_id = endpoint.id
    ) AS secrets
    FROM webhooks_endpoint AS endpoint WHERE NOT is_removed
  `.pipe(Rows.decodeAll(EndpointRow))
  const events = yield* sql`
    SELECT event.*, count(delivery.id)::int AS deliveries
    FROM webhooks_event AS event LEFT JOIN webhooks_delivery AS delivery ON delivery.event_id = event.id
    GROUP BY event.id
  `.pipe(Rows.decodeAll(EventRow))
  const rows = yield* sql`
    SELECT delivery.*, event.type, event.created_at
    FROM webhooks_delivery AS delivery JOIN webhooks_event AS event ON event.id = delivery.event_id
  `.pipe(Rows.decodeAll(DeliveryRow))
  const sends = yield* sql`SELECT * FROM webhooks_send`.pipe(Rows.decodeAll(SendRow))
  // Rows of removed endpoints stay until the endpoint is deleted.
  const failing = yield* sql`
    SELECT failing.endpoint_id AS id, failing.since
    FROM webhooks_failing AS failing JOIN webhooks_endpoint AS endpoint ON endpoint.id = failing.endpoint_id
    WHERE NOT endpoint.is_removed
  `.pipe(Rows.decodeAll(FailingRow))
  const deliveries = sorted(rows.map(toDelivery), ({ id }) => id)
  return {
    endpoints: sorted(endpoints.map(toRecord), ({ endpoint }) => endpoint.id),
    events: sorted(events.map(toEvent), ({ event }) => event.id),
    deliveries,
    pending: deliveries.filter(({ status }) => status === "pending"),
    sends: sorted(sends.map(toSend), keyOf),
    failing: sorted(failing.map(({ id, since }) => [EndpointId.fromUuid(id), since] as const), ([id]) => id)
  } satisfies Content
})

const sorted = <A>(all: ReadonlyArray<A>, key: (one: A) => string): ReadonlyArray<A> =>
  all.toSorted((a, b) => key(a) < key(b) ? -1 : 1)

const keyOf = ({ line }: { readonly line: LoggedSend }) => `${line.delivery} ${line.claims}`

const removedEndpoint = {
  account: "removed",
  url: "https://example.com",
  status: "enabled",
  createdAt: DateTime.makeUnsafe(0),
  secretCreatedAt: DateTime.makeUnsafe(0)
} as const

const insertDeliveries = Effect.fnUntraced(function*(deliveries: ReadonlyArray<DeliveryState>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO webhooks_delivery ${
    Rows.unnest(deliveries, {
      id: ["uuid", ({ id }) => DeliveryId.toUuid(id)],
      event_id: ["uuid", ({ event }) => EventId.toUuid(event)],
      endpoint_id: ["uuid", ({ endpoint }) => EndpointId.toUuid(endpoint)],
      status: ["text", ({ status }) => status],
      due_at: ["timestamptz?", ({ dueAt }) => dueAt],
      begun_at: ["timestamptz", ({ begunAt }) => begunAt],
      claims: ["int4", ({ claims }) => claims],
      claims_void: ["int4", ({ claimsVoid }) => claimsVoid],
      is_claimed: ["boolean", ({ isClaimed }) => isClaimed],
      failed_sends: ["int4", ({ failedSends }) => failedSends],
      body: ["bytea?", ({ body }) => body]
    })
  }
  `
})

const insertSends = Effect.fnUntraced(function*(sends: Content["sends"]) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO webhooks_send ${
    Rows.unnest(sends, {
      delivery_id: ["uuid", ({ line }) => DeliveryId.toUuid(line.delivery)],
      claims: ["int4", ({ line }) => line.claims],
      endpoint_id: ["uuid", ({ endpoint }) => EndpointId.toUuid(endpoint)],
      type: ["text", ({ line }) => line.type],
      attempt: ["int4", ({ line }) => line.attempt],
      at: ["timestamptz", ({ line }) => line.at],
      duration_ms: ["float8", ({ line }) => line.durationMillis],
      http_status: ["int4?", ({ line }) => line.httpStatus],
      reason: ["text", ({ line }) => line.reason]
    })
  }
  `
})

const EndpointRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  url: Schema.String,
  types: Schema.NullOr(Schema.Array(Schema.String)),
  status: EndpointStatus,
  created_at: Schema.DateTimeUtcFromDate,
  secret_created_at: Schema.DateTimeUtcFromDate,
  secrets: Schema.Array(Schema.Struct({
    sealed: Schema.String,
    createdAt: Schema.DateTimeUtcFromString,
    expiresAt: Schema.NullOr(Schema.DateTimeUtcFromString)
  }))
})

const toRecord = (row: typeof EndpointRow.Type): Content["endpoints"][number] => ({
  endpoint: {
    id: EndpointId.fromUuid(row.id),
    account: row.account,
    url: row.url,
    types: row.types,
    status: row.status,
    createdAt: row.created_at,
    secretCreatedAt: row.secret_created_at
  },
  secrets: row.secrets
})

const FailingRow = Schema.Struct({ id: Schema.String, since: Schema.DateTimeUtcFromDate })

const EventRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  type: Schema.String,
  data: Schema.Json,
  bytes: Schema.Int,
  created_at: Schema.DateTimeUtcFromDate,
  deliveries: Schema.Int
})

const toEvent = (row: typeof EventRow.Type): Content["events"][number] => ({
  event: {
    id: EventId.fromUuid(row.id),
    account: row.account,
    type: row.type,
    data: row.data,
    createdAt: row.created_at
  },
  dataBytes: row.bytes,
  deliveries: row.deliveries
})

const DeliveryRow = Schema.Struct({
  id: Schema.String,
  event_id: Schema.String,
  endpoint_id: Schema.String,
  type: Schema.String,
  created_at: Schema.DateTimeUtcFromDate,
  status: DeliveryStatus,
  due_at: Schema.NullOr(Schema.DateTimeUtcFromDate),
  begun_at: Schema.DateTimeUtcFromDate,
  claims: Schema.Int,
  claims_void: Schema.Int,
  is_claimed: Schema.Boolean,
  failed_sends: Schema.Int,
  body: Schema.NullOr(Schema.Uint8Array)
})

const toDelivery = (row: typeof DeliveryRow.Type): DeliveryState => ({
  id: DeliveryId.fromUuid(row.id),
  event: EventId.fromUuid(row.event_id),
  endpoint: EndpointId.fromUuid(row.endpoint_id),
  type: row.type,
  subject: null,
  createdAt: row.created_at,
  status: row.status,
  dueAt: row.due_at,
  begunAt: row.begun_at,
  claims: row.claims,
  claimsVoid: row.claims_void,
  isClaimed: row.is_claimed,
  failedSends: row.failed_sends,
  body: row.body
})

const SendRow = Schema.Struct({
  delivery_id: Schema.String,
  claims: Schema.Int,
  endpoint_id: Schema.String,
  type: Schema.String,
  attempt: Schema.Int,
  at: Schema.DateTimeUtcFromDate,
  duration_ms: Schema.Number,
  http_status: Schema.NullOr(Schema.Int),
  reason: Reason
})

const toSend = (row: typeof SendRow.Type): Content["sends"][number] => ({
  endpoint: EndpointId.fromUuid(row.endpoint_id),
  line: {
    delivery: DeliveryId.fromUuid(row.delivery_id),
    claims: row.claims,
    type: row.type,
    attempt: row.attempt,
    at: row.at,
    durationMillis: row.duration_ms,
    httpStatus: row.http_status,
    reason: row.reason
  }
})
