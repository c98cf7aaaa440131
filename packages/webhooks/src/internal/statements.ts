/**
 * The statements that workers run all the time. A test looks at their plans.
 *
 * Arrays of ids, and limits of one row, keep these at primary keys: how many rows a set
 * has the planner cannot know, and a join alone reads whole tables for too high a guess.
 */
import { DateTime } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Claim, DeliveryId } from "../Delivery.ts"
import { EndpointId, type SealedSecret } from "../Endpoint.ts"
import type { Demand, Settlement } from "../WebhookStore.ts"
import { endpointColumns, fromSecrets } from "./rows.ts"

/**
 * Steps from the first due delivery of one endpoint to that of the next, so that what
 * stands behind the first costs nothing. Removed endpoints are passed over.
 */
export const due = (
  sql: SqlClient.SqlClient,
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
        head.found + (endpoint.account IS NOT NULL AND next.due_at <= ${DateTime.toDate(now)})::int4
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
    WHERE account IS NOT NULL AND due_at <= ${DateTime.toDate(now)}
    UNION ALL
    SELECT NULL, NULL, min(due_at)
    FROM head
    WHERE account IS NOT NULL AND due_at > ${DateTime.toDate(now)}
  `

/**
 * SKIP LOCKED: two workers must not wait for each other's deliveries. The index has them
 * in this order, so a long backlog is never sorted. Sizes are known without reading what
 * has them. An event that is gone leaves its columns null.
 */
export const claim = (
  sql: SqlClient.SqlClient,
  demands: ReadonlyArray<Demand>,
  now: DateTime.Utc,
  until: DateTime.Utc,
  bytesMax: number
): Statement.Statement<unknown> =>
  sql`
    WITH found AS MATERIALIZED (
      SELECT delivery.id, delivery.due_at, demand.place, delivery.bytes + coalesce(event.bytes, 0) AS bytes
      FROM unnest(
        ${demands.map(({ endpoint }) => EndpointId.toUuid(endpoint))}::uuid[],
        ${demands.map(({ limit }) => limit)}::int4[]
      ) WITH ORDINALITY AS demand (endpoint_id, count, place)
      CROSS JOIN LATERAL (
        SELECT id FROM webhooks_endpoint WHERE id = demand.endpoint_id AND NOT is_removed LIMIT 1
      ) AS endpoint
      CROSS JOIN LATERAL (
        SELECT id, event_id, due_at, coalesce(octet_length(body), 0) AS bytes
        FROM webhooks_delivery
        WHERE endpoint_id = endpoint.id AND due_at <= ${DateTime.toDate(now)}
        ORDER BY due_at, id
        LIMIT demand.count
        FOR UPDATE SKIP LOCKED
      ) AS delivery
      LEFT JOIN LATERAL (SELECT bytes FROM webhooks_event WHERE id = delivery.event_id LIMIT 1) AS event ON true
    ), lined_up AS (
      SELECT *, row_number() OVER (PARTITION BY place ORDER BY due_at, id) AS turn FROM found
    ), summed AS (
      SELECT
        id, due_at,
        row_number() OVER (ORDER BY turn, place) AS nth,
        sum(bytes) OVER (ORDER BY turn, place) AS bytes
      FROM lined_up
    ), next AS MATERIALIZED (
      SELECT id, due_at FROM summed WHERE nth = 1 OR bytes <= ${bytesMax}::int8
    ), claimed AS (
      UPDATE webhooks_delivery AS delivery
      SET due_at = ${DateTime.toDate(until)}, claims = delivery.claims + 1, is_claimed = true
      WHERE delivery.id = ANY(ARRAY(SELECT id FROM next))
      RETURNING
        delivery.id, delivery.event_id, delivery.endpoint_id, delivery.claims, delivery.claims_void,
        delivery.failed_sends, delivery.body
    )
    SELECT
      claimed.id, next.due_at AS "dueAt", claimed.claims, claimed.claims - claimed.claims_void AS attempt,
      claimed.failed_sends AS "failedSends", claimed.body,
      ${sql.literal(endpointColumns)},
      ${secrets(sql, sql`secret.expires_at IS NULL OR secret.expires_at > ${DateTime.toDate(now)}`)},
      event.id AS "eventId", event.type, event.data, event.created_at AS "eventCreatedAt"
    FROM next
    JOIN claimed ON claimed.id = next.id
    CROSS JOIN LATERAL (SELECT * FROM webhooks_endpoint WHERE id = claimed.endpoint_id LIMIT 1) AS endpoint
    LEFT JOIN LATERAL (SELECT * FROM webhooks_event WHERE id = claimed.event_id LIMIT 1) AS event ON true
  `

/** Of deliveries that the open unit has claimed. */
export const freeze = (
  sql: SqlClient.SqlClient,
  bodies: ReadonlyArray<{ readonly delivery: DeliveryId; readonly body: Uint8Array }>
): Statement.Statement<unknown> =>
  sql`
    UPDATE webhooks_delivery AS delivery SET body = made.body
    FROM unnest(${uuidsOf(bodies)}::uuid[], ${bodies.map(({ body }) => body)}::bytea[]) AS made (id, body)
    WHERE delivery.id = ANY(${uuidsOf(bodies)}::uuid[]) AND delivery.id = made.id
  `

/** Locks in the order of ids, so that two sets never wait for each other crosswise. */
export const settle = (
  sql: SqlClient.SqlClient,
  settlements: ReadonlyArray<Settlement>
): Statement.Statement<unknown> =>
  sql`
    WITH told AS MATERIALIZED (
      SELECT *
      FROM jsonb_to_recordset(${JSON.stringify(settlements.map(toTold))}::jsonb) AS told (
        id uuid, claims int4, status text, due_at timestamptz, is_send boolean, attempt int4, at timestamptz,
        duration_ms float8, http_status int4, reason text
      )
    ), found AS MATERIALIZED (
      SELECT
        delivery.id, told.claims, delivery.event_id, delivery.endpoint_id,
        delivery.is_claimed AND delivery.claims = told.claims AS holds,
        coalesce(told.reason = 'disabled', false) AS is_disabled
      FROM webhooks_delivery AS delivery
      JOIN told ON told.id = delivery.id
      WHERE delivery.id = ANY(${uuidsOf(settlements)}::uuid[])
      ORDER BY delivery.id
      FOR UPDATE OF delivery
    ), first_disabled AS MATERIALIZED (
      SELECT DISTINCT ON (found.endpoint_id) found.id
      FROM found
      LEFT JOIN LATERAL (
        SELECT reason
        FROM webhooks_send
        WHERE endpoint_id = found.endpoint_id
        ORDER BY at DESC, delivery_id DESC, claims DESC
        LIMIT 1
      ) AS newest ON true
      WHERE found.is_disabled AND newest.reason IS DISTINCT FROM 'disabled'
      ORDER BY found.endpoint_id, found.id
    ), logged AS (
      INSERT INTO webhooks_send (
        delivery_id, claims, endpoint_id, type, attempt, at, duration_ms, http_status, reason
      )
      SELECT
        found.id, found.claims, found.endpoint_id, event.type, told.attempt, told.at, told.duration_ms,
        told.http_status, told.reason
      FROM found
      JOIN told ON told.id = found.id AND told.claims = found.claims AND told.is_send
      CROSS JOIN LATERAL (SELECT type FROM webhooks_event WHERE id = found.event_id LIMIT 1) AS event
      WHERE NOT found.is_disabled OR found.id IN (SELECT id FROM first_disabled)
      ON CONFLICT (delivery_id, claims) DO NOTHING
    )
    UPDATE webhooks_delivery AS delivery SET
      status = told.status,
      due_at = told.due_at,
      failed_sends = delivery.failed_sends
        + (told.is_send AND NOT found.is_disabled AND told.status <> 'delivered')::int4,
      is_claimed = false,
      body = CASE WHEN told.status = 'pending' THEN delivery.body END
    FROM found
    JOIN told ON told.id = found.id AND told.claims = found.claims
    WHERE delivery.id = ANY(${uuidsOf(settlements)}::uuid[]) AND delivery.id = found.id AND found.holds
    RETURNING delivery.id
  `

/** The same for claims that are given back. */
export const release = (
  sql: SqlClient.SqlClient,
  claims: ReadonlyArray<Claim>,
  at: DateTime.Utc
): Statement.Statement<unknown> =>
  sql`
    WITH held AS MATERIALIZED (
      SELECT delivery.id
      FROM webhooks_delivery AS delivery
      JOIN unnest(
        ${uuidsOf(claims)}::uuid[],
        ${claims.map(({ claims }) => claims)}::int4[]
      ) AS claim (id, claims) ON claim.id = delivery.id
      WHERE delivery.id = ANY(${uuidsOf(claims)}::uuid[])
        AND delivery.is_claimed
        AND delivery.claims = claim.claims
      ORDER BY delivery.id
      FOR UPDATE OF delivery
    )
    UPDATE webhooks_delivery
    SET due_at = ${DateTime.toDate(at)}, claims_void = claims_void + 1, is_claimed = false
    WHERE id = ANY(ARRAY(SELECT id FROM held))
  `

/** The secrets of the `endpoint` of a statement, newest first. */
export const secrets = (sql: SqlClient.SqlClient, condition: Statement.Fragment): Statement.Statement<unknown> =>
  sql`
    (
      SELECT coalesce(
        json_agg(
          json_build_object(
            'sealed', secret.sealed, 'createdAt', secret.created_at, 'expiresAt', secret.expires_at
          ) ORDER BY secret.place
        ),
        '[]'
      )
      FROM webhooks_secret AS secret
      WHERE secret.endpoint_id = endpoint.id AND (${condition})
    ) AS secrets
  `

/** The end of a statement that writes all secrets of an endpoint. */
export const putSecrets = (
  sql: SqlClient.SqlClient,
  endpoint: EndpointId,
  secrets: ReadonlyArray<SealedSecret>
): Statement.Statement<unknown> =>
  sql`
    INSERT INTO webhooks_secret (endpoint_id, place, sealed, created_at, expires_at)
    SELECT ${EndpointId.toUuid(endpoint)}, place, sealed, created_at, expires_at
    FROM jsonb_to_recordset(${fromSecrets(secrets)}::jsonb) AS secret (
      place int4, sealed text, created_at timestamptz, expires_at timestamptz
    )
    ON CONFLICT (endpoint_id, place) DO UPDATE
    SET sealed = excluded.sealed, created_at = excluded.created_at, expires_at = excluded.expires_at
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Before every id. */
const nil = "00000000-0000-0000-0000-000000000000"

const uuidsOf = (set: ReadonlyArray<{ readonly delivery: DeliveryId }>) =>
  set.map(({ delivery }) => DeliveryId.toUuid(delivery))

const statuses = { Delivered: "delivered", Failed: "failed", Again: "pending" } as const

const toTold = ({ claims, delivery, next, send }: Settlement) => ({
  id: DeliveryId.toUuid(delivery),
  claims,
  status: statuses[next._tag],
  due_at: next._tag === "Again" ? DateTime.formatIso(next.dueAt) : null,
  is_send: send !== null,
  ...(send !== null && {
    attempt: send.attempt,
    at: DateTime.formatIso(send.at),
    duration_ms: send.durationMillis,
    http_status: send.outcome.httpStatus,
    reason: send.outcome.reason
  })
})
