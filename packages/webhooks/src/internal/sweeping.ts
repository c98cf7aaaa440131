/** What of the tables of webhooks goes with time, in sets whose size is given. */
import { DateTime, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { decodeRows, IdRow } from "./rows.ts"

/**
 * Passes over what others have locked, so it waits for nobody but another sweep: for an
 * event of which both have taken a delivery. Such an event is locked before anybody
 * looks whether a delivery is left, else each of the two would leave it to the other.
 */
export const sweep = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, before: DateTime.Utc, limit: number) {
  const deliveries = yield* idRows(deleteDeliveries(sql, before, limit))
  if (deliveries.length > 0) yield* deleteEvents(sql, [...new Set(deliveries.map(({ id }) => id))])
  const lines = yield* deleteLines(sql, limit - deliveries.length)
  yield* deleteEndpoints(sql, limit)
  return deliveries.length + lines.length
})

/** Ended deliveries whose series began before then, and those of removed endpoints. */
export const deleteDeliveries = (
  sql: SqlClient.SqlClient,
  before: DateTime.Utc,
  limit: number
): Statement.Statement<unknown> =>
  sql`
    WITH old AS MATERIALIZED (
      SELECT id
      FROM webhooks_delivery
      WHERE due_at IS NULL AND begun_at < ${DateTime.toDate(before)}
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

/** Lines of logs but for the newest of each endpoint. */
export const trimSends = (sql: SqlClient.SqlClient, kept: number, limit: number): Statement.Statement<unknown> =>
  sql`
    WITH older AS MATERIALIZED (
      SELECT line.delivery_id, line.claims
      FROM webhooks_endpoint AS endpoint
      CROSS JOIN LATERAL (
        SELECT delivery_id, claims
        FROM webhooks_send
        WHERE endpoint_id = endpoint.id
        ORDER BY at DESC, delivery_id DESC, claims DESC
        OFFSET ${kept}
        LIMIT ${limit}
      ) AS line
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const idRows = decodeRows(IdRow)

const deleteEvents = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, events: ReadonlyArray<string>) {
  yield* sql`SELECT id FROM webhooks_event WHERE id = ANY(${events}::uuid[]) ORDER BY id FOR UPDATE`
  yield* sql`
    DELETE FROM webhooks_event AS event
    WHERE event.id = ANY(${events}::uuid[])
      AND NOT EXISTS (SELECT FROM webhooks_delivery AS delivery WHERE delivery.event_id = event.id)
  `
})

const deleteLines = (sql: SqlClient.SqlClient, limit: number) =>
  sql`
    WITH removed AS MATERIALIZED (
      SELECT line.delivery_id, line.claims
      FROM webhooks_endpoint AS endpoint
      CROSS JOIN LATERAL (
        SELECT delivery_id, claims
        FROM webhooks_send
        WHERE endpoint_id = endpoint.id
        ORDER BY at
        LIMIT ${limit}
        FOR UPDATE SKIP LOCKED
      ) AS line
      WHERE endpoint.is_removed
      LIMIT ${limit}
    )
    DELETE FROM webhooks_send AS send
    USING removed
    WHERE send.delivery_id = removed.delivery_id AND send.claims = removed.claims
    RETURNING 1
  `

/** A line is written under the lock of its delivery: who sees no delivery any more sees every line. */
const deleteEndpoints = (sql: SqlClient.SqlClient, limit: number) =>
  sql`
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
  `
