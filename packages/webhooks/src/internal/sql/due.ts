/** The statement that finds endpoints with due deliveries. */
import type * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import type { DateTime } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { EndpointId } from "../../Endpoint.ts"

/**
 * Selects due endpoints. Steps from the first pending delivery of one endpoint to that of the next,
 * so its cost does not depend on the backlog of an endpoint. Skips removed endpoints.
 */
export const selectDue = (
  sql: SqlClient.SqlClient,
  clock: DatabaseTime.HostClock,
  now: DateTime.Utc,
  limit: number,
  after: EndpointId | undefined
): Statement.Statement<unknown> =>
  sql`
    WITH RECURSIVE head AS (
      SELECT
        ${after === undefined ? nil : EndpointId.toUuid(after)}::uuid AS endpoint_id,
        NULL::timestamptz AS due_at, NULL::text COLLATE "C" AS account, 0 AS found
      UNION ALL
      SELECT next.endpoint_id, next.due_at, endpoint.account,
        head.found + (endpoint.account IS NOT NULL AND next.due_at <= ${clock.toDatabase(now)})::int4
      FROM head
      CROSS JOIN LATERAL (
        SELECT endpoint_id, due_at
        FROM webhooks_delivery
        WHERE due_at IS NOT NULL AND endpoint_id > head.endpoint_id
        ORDER BY endpoint_id, due_at
        LIMIT 1
      ) AS next
      LEFT JOIN LATERAL (
        SELECT account FROM webhooks_endpoint WHERE id = next.endpoint_id AND NOT is_removed LIMIT 1
      ) AS endpoint ON true
      WHERE head.found < ${limit}
    )
    SELECT endpoint_id AS "endpointId", account, NULL::timestamptz AS "nextAt"
    FROM head
    WHERE account IS NOT NULL AND due_at <= ${clock.toDatabase(now)}
    UNION ALL
    SELECT NULL, NULL, ${clock.toHost(sql`min(due_at)`)}
    FROM head
    WHERE account IS NOT NULL AND due_at > ${clock.toDatabase(now)}
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Sorts before every id. */
const nil = "00000000-0000-0000-0000-000000000000"
