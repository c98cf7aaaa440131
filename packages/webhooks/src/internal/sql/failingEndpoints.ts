/** Statements on the endpoints whose sends fail. */
import * as Rows from "@kinora/persistence/Rows"
import { Duration } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { FailingRow, IdRow } from "./rows.ts"

/**
 * Common table expressions that store first failures and delete them at a success. They follow `found` of a settlement. They wait
 * for no transaction that changes endpoints, and for no settlement that deletes a failure. What a success skips, `read` finds in the
 * log.
 */
export const track = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`
    tracked AS MATERIALIZED (
      SELECT endpoint_id, bool_or(reason = 'ok') AS has_succeeded, min(at) AS since
      FROM found
      WHERE is_send AND NOT is_disabled
      GROUP BY endpoint_id
    ), recovered AS MATERIALIZED (
      SELECT failing.endpoint_id
      FROM webhooks_failing AS failing
      JOIN tracked ON tracked.endpoint_id = failing.endpoint_id AND tracked.has_succeeded
      ORDER BY failing.endpoint_id
      FOR UPDATE OF failing SKIP LOCKED
    ), forgotten AS (
      DELETE FROM webhooks_failing AS failing USING recovered WHERE failing.endpoint_id = recovered.endpoint_id
    ), failed AS (
      INSERT INTO webhooks_failing (endpoint_id, since)
      SELECT endpoint_id, since
      FROM tracked
      WHERE NOT has_succeeded
        AND NOT EXISTS (SELECT FROM webhooks_failing AS known WHERE known.endpoint_id = tracked.endpoint_id)
      ORDER BY endpoint_id
      ON CONFLICT DO NOTHING
    )
  `

/** Locks up to `limit` endpoints of which every send failed in a time of `after` until the newest one. */
export const lock = (sql: SqlClient.SqlClient, after: Duration.Duration, limit: number) =>
  idRows(sql`
    SELECT endpoint.id
    ${fromFailing(sql, after)}
    ORDER BY endpoint.id
    LIMIT ${limit}
    FOR UPDATE OF endpoint SKIP LOCKED
  `)

/** Returns those of locked endpoints of which every send failed, also when they were locked. */
export const read = (sql: SqlClient.SqlClient, after: Duration.Duration, ids: ReadonlyArray<string>) =>
  failingRows(sql`
    SELECT endpoint.account, endpoint.id, first.at AS since
    ${fromFailing(sql, after)} AND endpoint.id = ANY(${Rows.array("uuid", ids)})
    ORDER BY endpoint.id
  `)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const failingRows = Rows.decodeAll(FailingRow)
const idRows = Rows.decodeAll(IdRow)

/**
 * The endpoints, with the time of their first failure after the last success. Outcomes can be stored in another order than that of
 * the sends, so the log can have a success after the stored failure.
 */
const fromFailing = (sql: SqlClient.SqlClient, after: Duration.Duration): Statement.Fragment =>
  sql`
    FROM webhooks_failing AS failing
    JOIN webhooks_endpoint AS endpoint ON endpoint.id = failing.endpoint_id
    CROSS JOIN LATERAL (
      SELECT max(at) AS at FROM webhooks_send WHERE endpoint_id = failing.endpoint_id
    ) AS newest
    CROSS JOIN LATERAL (
      SELECT max(at) AS at
      FROM webhooks_send
      WHERE endpoint_id = failing.endpoint_id AND at > failing.since AND reason = 'ok'
    ) AS success
    CROSS JOIN LATERAL (
      SELECT CASE WHEN success.at IS NULL THEN failing.since ELSE (
        SELECT min(at)
        FROM webhooks_send
        WHERE endpoint_id = failing.endpoint_id AND at > success.at AND reason <> 'disabled'
      ) END AS at
    ) AS first
    WHERE NOT endpoint.is_removed
      AND endpoint.status = 'enabled'
      -- Before the log of the endpoint is read for a success.
      AND newest.at >= failing.since + ${Duration.toMillis(after)}::float8 * interval '1 millisecond'
      AND newest.at >= first.at + ${Duration.toMillis(after)}::float8 * interval '1 millisecond'
  `
