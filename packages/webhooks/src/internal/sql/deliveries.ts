/** Statements on events, deliveries and logs, as accounts see them. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Pipelining from "@kinora/persistence/Pipelining"
import * as Rows from "@kinora/persistence/Rows"
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { DeliveryId } from "../../Delivery.ts"
import { EndpointId } from "../../Endpoint.ts"
import { EventId } from "../../Event.ts"
import type { FailedRestart, InsertedEvent, NewDelivery, WebhookStore } from "../../WebhookStore.ts"
import * as WebhookRows from "./rows.ts"

type Sql = SqlClient.SqlClient

/** The methods of the store that publish, list and restart deliveries. */
export const methods = (sql: Sql) => ({
  publish: (events, deliveries) => insert(sql, events, deliveries).pipe(mapSql("WebhookStore.publish")),
  loadDelivery: (account, id) =>
    deliveryRows(lock(sql, account, id)).pipe(
      Effect.map(([row]) => row && WebhookRows.toDelivery(row)),
      mapSql("WebhookStore.loadDelivery")
    ),
  restart: (id, at) => Effect.asVoid(restart(sql, id, at)).pipe(mapSql("WebhookStore.restart")),
  restartFailed: (options) => restartFailed(sql, options).pipe(mapSql("WebhookStore.restartFailed")),
  findEvent: (account, endpoint, id) =>
    eventRows(selectEvent(sql, account, endpoint, id)).pipe(
      Effect.map(([row]) => row && { ...row, id: EventId.fromUuid(row.id) }),
      mapSql("WebhookStore.findEvent")
    ),
  listDeliveries: (endpoint, limit, before) =>
    deliveryRows(selectNewest(sql, endpoint, limit, before)).pipe(
      Effect.map((rows) => rows.map(WebhookRows.toDelivery)),
      mapSql("WebhookStore.listDeliveries")
    ),
  listDeliveriesAbout: (account, subject, limit) =>
    deliveryRows(selectAbout(sql, account, subject, limit)).pipe(
      Effect.map((rows) => rows.map(WebhookRows.toDelivery)),
      mapSql("WebhookStore.listDeliveriesAbout")
    ),
  listSendsOf: (deliveries, limit) =>
    sendRows(selectSendsOf(sql, deliveries, limit)).pipe(
      Effect.map((rows) => rows.map(WebhookRows.toSend)),
      mapSql("WebhookStore.listSendsOf")
    ),
  listSends: (endpoint, limit) =>
    sendRows(selectSends(sql, endpoint, limit)).pipe(
      Effect.map((rows) => rows.map(WebhookRows.toSend)),
      mapSql("WebhookStore.listSends")
    )
} satisfies Partial<WebhookStore["Service"]>)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const deliveryRows = Rows.decodeAll(WebhookRows.DeliveryRow)
const sendRows = Rows.decodeAll(WebhookRows.SendRow)

const eventRows = Rows.decodeAll(Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  type: Schema.String,
  data: Schema.fromJsonString(Schema.Json),
  createdAt: Rows.timestamptz
}))
const countRows = Rows.decodeAll(Schema.Struct({ count: Schema.Int }))

const columns = (sql: Sql) => sql.literal(WebhookRows.deliveryColumns)

const insert = (sql: Sql, events: ReadonlyArray<InsertedEvent>, deliveries: ReadonlyArray<NewDelivery>) => {
  const createdAt = new Map(events.map((event) => [event.id, event.createdAt]))
  return Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    Pipelining.write(
      sql,
      sql`
    WITH added AS (
      INSERT INTO webhooks_event ${
        Rows.unnest(events, {
          id: ["uuid", ({ id }) => EventId.toUuid(id)],
          ...Rows.fields({ account: "text", type: "text", data: "json" }),
          created_at: ["timestamptz", ({ createdAt }) => createdAt],
          subject: ["text?", ({ subject }) => subject]
        })
      }
    )
    INSERT INTO webhooks_delivery (id, event_id, endpoint_id, status, due_at, begun_at)
    SELECT id, event_id, endpoint_id, 'pending', ${clock.now} + due_in * interval '1 millisecond',
      ${clock.now} + due_in * interval '1 millisecond'
    FROM ${
        Rows.table("delivery", deliveries, {
          id: ["uuid", ({ id }) => DeliveryId.toUuid(id)],
          event_id: ["uuid", ({ event }) => EventId.toUuid(event)],
          endpoint_id: ["uuid", ({ endpoint }) => EndpointId.toUuid(endpoint)],
          due_in: ["float8", ({ event }) => clock.millisUntil(createdAt.get(event)!)]
        })
      }
  `
    ))
}

const lock = (sql: Sql, account: string, id: DeliveryId) =>
  sql`
    SELECT ${columns(sql)}
    FROM webhooks_delivery AS delivery
    JOIN webhooks_endpoint AS endpoint ON endpoint.id = delivery.endpoint_id
    JOIN webhooks_event AS event ON event.id = delivery.event_id
    WHERE delivery.id = ${DeliveryId.toUuid(id)} AND endpoint.account = ${account} AND NOT endpoint.is_removed
    FOR UPDATE OF delivery
  `

const restart = (sql: Sql, id: DeliveryId, at: DateTime.Utc) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    UPDATE webhooks_delivery
    SET status = 'pending',
      due_at = ${clock.toDatabase(at)},
      begun_at = ${clock.toDatabase(at)},
      claims_void = claims,
      failed_sends = 0,
      body = NULL
    WHERE id = ${DeliveryId.toUuid(id)} AND status <> 'pending'
  `)

/** The failed deliveries of an endpoint since a time. */
const failedSince = (sql: Sql, { account, endpoint, since }: FailedRestart) =>
  sql`
    FROM webhooks_delivery AS delivery
    JOIN webhooks_event AS event ON event.id = delivery.event_id
    JOIN webhooks_endpoint AS endpoint ON endpoint.id = delivery.endpoint_id
    WHERE endpoint.id = ${EndpointId.toUuid(endpoint)} AND endpoint.account = ${account} AND NOT endpoint.is_removed
      AND delivery.status = 'failed' AND event.created_at >= ${DateTime.toDate(since)}
  `

const restartFailed = Effect.fnUntraced(function*(sql: Sql, options: FailedRestart) {
  const clock = yield* DatabaseTime.hostClock
  const at = clock.toDatabase(options.at)
  const restarted = yield* sql`
    WITH room AS (
      SELECT greatest(0, ${options.pendingMax} - count(*)) AS count FROM (
        SELECT FROM webhooks_delivery AS delivery
        JOIN webhooks_endpoint AS endpoint ON endpoint.id = delivery.endpoint_id
        WHERE endpoint.account = ${options.account} AND NOT endpoint.is_removed AND delivery.status = 'pending'
        LIMIT ${options.pendingMax}
      ) AS pending
    ), chosen AS (
      SELECT delivery.id ${failedSince(sql, options)}
      ORDER BY delivery.id
      LIMIT (SELECT count FROM room)
      FOR UPDATE OF delivery SKIP LOCKED
    )
    UPDATE webhooks_delivery AS delivery
    SET status = 'pending', due_at = ${at}, begun_at = ${at}, claims_void = claims, failed_sends = 0, body = NULL
    FROM chosen
    WHERE delivery.id = chosen.id
    RETURNING 1
  `
  const [left] = yield* countRows(sql`SELECT count(*)::int4 AS count ${failedSince(sql, options)}`)
  return { restarted: restarted.length, left: left?.count ?? 0 }
})

const selectEvent = (sql: Sql, account: string, endpoint: EndpointId, id: DeliveryId) =>
  sql`
    SELECT event.id, event.account, event.type, event.data::text AS data, event.created_at AS "createdAt"
    FROM webhooks_delivery AS delivery
    JOIN webhooks_endpoint AS endpoint ON endpoint.id = delivery.endpoint_id
    JOIN webhooks_event AS event ON event.id = delivery.event_id
    WHERE delivery.id = ${DeliveryId.toUuid(id)} AND endpoint.id = ${EndpointId.toUuid(endpoint)}
      AND endpoint.account = ${account} AND NOT endpoint.is_removed
  `

const selectNewest = (sql: Sql, endpoint: EndpointId, limit: number, before: DeliveryId | undefined) =>
  sql`
    SELECT ${columns(sql)}
    FROM webhooks_delivery AS delivery
    JOIN webhooks_event AS event ON event.id = delivery.event_id
    WHERE delivery.endpoint_id = ${EndpointId.toUuid(endpoint)}
      AND delivery.id < ${before === undefined ? lastUuid : DeliveryId.toUuid(before)}
      AND EXISTS (SELECT FROM webhooks_endpoint WHERE id = delivery.endpoint_id AND NOT is_removed)
    ORDER BY delivery.id DESC
    LIMIT ${limit}
  `

const selectAbout = (sql: Sql, account: string, subject: string, limit: number) =>
  sql`
    SELECT ${columns(sql)}
    FROM webhooks_event AS event
    JOIN webhooks_delivery AS delivery ON delivery.event_id = event.id
    WHERE event.subject = ${subject}
      AND event.account = ${account}
      AND EXISTS (SELECT FROM webhooks_endpoint WHERE id = delivery.endpoint_id AND NOT is_removed)
    ORDER BY delivery.id DESC
    LIMIT ${limit}
  `

const selectSendsOf = (sql: Sql, deliveries: ReadonlyArray<DeliveryId>, limit: number) =>
  sql`
    SELECT ${sql.literal(WebhookRows.sendColumns)}
    FROM webhooks_send AS send
    WHERE delivery_id = ANY(${Rows.array("uuid", deliveries.map(DeliveryId.toUuid))})
    ORDER BY at DESC, delivery_id DESC, claims DESC
    LIMIT ${limit}
  `

const selectSends = (sql: Sql, endpoint: EndpointId, limit: number) =>
  sql`
    SELECT ${sql.literal(WebhookRows.sendColumns)}
    FROM webhooks_send AS send
    WHERE endpoint_id = ${EndpointId.toUuid(endpoint)}
      AND EXISTS (SELECT FROM webhooks_endpoint WHERE id = send.endpoint_id AND NOT is_removed)
    ORDER BY at DESC, delivery_id DESC, claims DESC
    LIMIT ${limit}
  `

/** Sorts after every id. */
const lastUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"
