/** Statements on the endpoints whose sends fail. */
import * as Rows from "@kinora/persistence/Rows"
import { Duration } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { FailingRow } from "./rows.ts"

/** Common table expressions that store first failures and delete them at a success. They follow `found` of a settlement. */
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
      FOR UPDATE OF failing
    ), forgotten AS (
      DELETE FROM webhooks_failing AS failing USING recovered WHERE failing.endpoint_id = recovered.endpoint_id
    ), failed AS (
      INSERT INTO webhooks_failing (endpoint_id, since)
      SELECT endpoint_id, since FROM tracked WHERE NOT has_succeeded ORDER BY endpoint_id
      ON CONFLICT DO NOTHING
    )
  `

/** Locks and returns endpoints of which every send failed in a time of `after` until the newest one. */
export const lock = (sql: SqlClient.SqlClient, after: Duration.Duration, limit: number) =>
  failingRows(sql`
    SELECT endpoint.account, endpoint.id, failing.since
    FROM webhooks_failing AS failing
    JOIN webhooks_endpoint AS endpoint ON endpoint.id = failing.endpoint_id
    CROSS JOIN LATERAL (
      SELECT at
      FROM webhooks_send
      WHERE endpoint_id = failing.endpoint_id
      ORDER BY at DESC
      LIMIT 1
    ) AS newest
    WHERE NOT endpoint.is_removed
      AND endpoint.status = 'enabled'
      AND newest.at >= failing.since + ${Duration.toMillis(after)}::float8 * interval '1 millisecond'
    ORDER BY endpoint.id
    LIMIT ${limit}
    FOR UPDATE OF endpoint SKIP LOCKED
  `)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const failingRows = Rows.decodeAll(FailingRow)
