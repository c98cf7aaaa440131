/** Statements that expire deliveries and delete old rows, in sets of a given size. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import type { DeleteBefore } from "@kinora/persistence/Deletion"
import * as Rows from "@kinora/persistence/Rows"
import { type DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { IdRow } from "./rows.ts"

/**
 * Deletes old deliveries, their events, and what is left of removed endpoints. Skips locked
 * rows, so a sweep waits only for another sweep that deleted a delivery of the same event. Events
 * are locked before the search for further deliveries. Otherwise, of two sweeps that delete the
 * last two deliveries of an event, neither would delete the event.
 */
export const sweep = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, before: DateTime.Utc, limit: number) {
  const deliveries = yield* idRows(deleteDeliveries(sql, yield* DatabaseTime.hostClock, before, limit))
  if (deliveries.length > 0) yield* deleteEvents(sql, [...new Set(deliveries.map(({ id }) => id))])
  const lines = yield* deleteLines(sql, limit - deliveries.length)
  yield* deleteEndpoints(sql, limit)
  return deliveries.length + lines.length
})

/** Deletes ended deliveries that began before `before`, and deliveries of removed endpoints. Returns the ids of their events. */
export const deleteDeliveries: DeleteBefore = (sql, clock, before, limit) =>
  sql`
    WITH old AS MATERIALIZED (
      SELECT id
      FROM webhooks_delivery
      WHERE due_at IS NULL AND begun_at < ${clock.toDatabase(before)}
      ORDER BY begun_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ), removed AS MATERIALIZED (
      SELECT delivery.id
      FROM webhooks_endpoint AS endpoint
      CROSS JOIN LATERAL (
        SELECT id
        FROM webhooks_delivery
        WHERE endpoint_id = endpoint.id
        ORDER BY id
        LIMIT ${limit}
        FOR UPDATE SKIP LOCKED
      ) AS delivery
      WHERE endpoint.is_removed
      LIMIT ${limit}
    )
    DELETE FROM webhooks_delivery
    WHERE id = ANY(ARRAY(SELECT id FROM old UNION SELECT id FROM removed LIMIT ${limit}))
    RETURNING event_id AS id
  `

/** Fails pending deliveries that began before `before`, except those under a lease. */
export const expire = (
  sql: SqlClient.SqlClient,
  clock: DatabaseTime.HostClock,
  before: DateTime.Utc,
  now: DateTime.Utc,
  limit: number
): Statement.Statement<unknown> =>
  sql`
    UPDATE webhooks_delivery
    SET status = 'failed', due_at = NULL, is_claimed = false, body = NULL
    WHERE id = ANY(ARRAY(
      SELECT id
      FROM webhooks_delivery
      WHERE status = 'pending'
        AND begun_at < ${clock.toDatabase(before)}
        AND NOT (is_claimed AND due_at > ${clock.toDatabase(now)})
      ORDER BY begun_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
  `

/** Deletes lines of logs except the newest `kept` of each endpoint. */
export const trimSends = (sql: SqlClient.SqlClient, kept: number, limit: number): Statement.Statement<unknown> =>
  sql`
    WITH older AS MATERIALIZED (
      SELECT line.delivery_id, line.claims
      FROM ${linesOfEndpoints(sql, sql`ORDER BY at DESC, delivery_id DESC, claims DESC OFFSET ${kept} LIMIT ${limit}`)}
      WHERE NOT endpoint.is_removed
      LIMIT ${limit}
    ), locked AS MATERIALIZED (
      SELECT send.delivery_id, send.claims
      FROM webhooks_send AS send
      JOIN older USING (delivery_id, claims)
      FOR UPDATE OF send SKIP LOCKED
    )
    DELETE FROM webhooks_send AS send
    USING locked
    WHERE send.delivery_id = locked.delivery_id AND send.claims = locked.claims
    RETURNING 1
  `

/** Deletes those of the events that have no further delivery. */
export const deleteEvents = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, events: ReadonlyArray<string>) {
  yield* sql`SELECT id FROM webhooks_event WHERE id = ANY(${Rows.array("uuid", events)}) ORDER BY id FOR UPDATE`
  yield* sql`
    DELETE FROM webhooks_event AS event
    WHERE event.id = ANY(${Rows.array("uuid", events)})
      AND NOT EXISTS (SELECT FROM webhooks_delivery AS delivery WHERE delivery.event_id = event.id)
  `
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const idRows = Rows.decodeAll(IdRow)

/** Joins every endpoint with lines of its log, which `selection` orders and limits. */
const linesOfEndpoints = (sql: SqlClient.SqlClient, selection: Statement.Fragment) =>
  sql`webhooks_endpoint AS endpoint
      CROSS JOIN LATERAL (
        SELECT delivery_id, claims
        FROM webhooks_send
        WHERE endpoint_id = endpoint.id
        ${selection}
      ) AS line`

/** Deletes lines of removed endpoints. */
const deleteLines = (sql: SqlClient.SqlClient, limit: number) =>
  sql`
    WITH removed AS MATERIALIZED (
      SELECT line.delivery_id, line.claims
      FROM ${linesOfEndpoints(sql, sql`ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED`)}
      WHERE endpoint.is_removed
      LIMIT ${limit}
    )
    DELETE FROM webhooks_send AS send
    USING removed
    WHERE send.delivery_id = removed.delivery_id AND send.claims = removed.claims
    RETURNING 1
  `

/**
 * Deletes removed endpoints without deliveries and lines. Lines and failures are stored under the lock of their delivery, so none
 * can follow the last delivery.
 */
const deleteEndpoints = (sql: SqlClient.SqlClient, limit: number) =>
  sql`
    WITH removed AS (
      DELETE FROM webhooks_endpoint
      WHERE id = ANY(ARRAY(
        SELECT endpoint.id
        FROM webhooks_endpoint AS endpoint
        WHERE endpoint.is_removed
          AND NOT EXISTS (SELECT FROM webhooks_delivery AS delivery WHERE delivery.endpoint_id = endpoint.id)
          AND NOT EXISTS (SELECT FROM webhooks_send AS send WHERE send.endpoint_id = endpoint.id)
        LIMIT ${limit}
        FOR UPDATE OF endpoint SKIP LOCKED
      ))
      RETURNING id
    )
    DELETE FROM webhooks_failing AS failing USING removed WHERE failing.endpoint_id = removed.id
  `
