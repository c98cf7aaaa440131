/** The statement that settles claims. */
import type * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import type { SqlClient, Statement } from "effect/sql"
import { DeliveryId } from "../../Delivery.ts"
import type { Settlement } from "../../WebhookStore.ts"
import * as FailingEndpoints from "./failingEndpoints.ts"

/**
 * Logs all sends, and applies the settlements whose claims still hold. Locks in the order of
 * ids, so that two sets do not deadlock.
 */
export const settle = (
  sql: SqlClient.SqlClient,
  clock: DatabaseTime.HostClock,
  settlements: ReadonlyArray<Settlement>
): Statement.Statement<unknown> =>
  sql`
    WITH found AS MATERIALIZED (
      SELECT
        settlement.*, delivery.event_id, delivery.endpoint_id,
        delivery.is_claimed AND delivery.claims = settlement.claims AS holds,
        coalesce(settlement.reason = 'disabled', false) AS is_disabled
      FROM webhooks_delivery AS delivery
      JOIN ${tableOf(clock, settlements)} ON settlement.id = delivery.id
      WHERE delivery.id = ANY(${idsOf(settlements)})
      ORDER BY delivery.id
      FOR UPDATE OF delivery
    ), first_disabled AS MATERIALIZED (
      ${selectFirstDisabled(sql)}
    ), logged AS (
      ${insertSends(sql)}
    ), ${FailingEndpoints.track(sql)}
    UPDATE webhooks_delivery AS delivery SET
      status = found.status,
      due_at = ${clock.now} + found.due_in * interval '1 millisecond',
      failed_sends = delivery.failed_sends
        + (found.is_send AND NOT found.is_disabled AND found.status <> 'delivered')::int4,
      is_claimed = false,
      body = CASE WHEN found.status = 'pending' THEN coalesce(delivery.body, found.body) END
    FROM found
    WHERE delivery.id = ANY(${idsOf(settlements)}) AND delivery.id = found.id AND found.holds
    RETURNING delivery.id
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const statuses = { Delivered: "delivered", Failed: "failed", Again: "pending" } as const

const uuidOf = ({ delivery }: Settlement): string => DeliveryId.toUuid(delivery)

const idsOf = (settlements: ReadonlyArray<Settlement>): Statement.Fragment =>
  Rows.array("uuid", settlements.map(uuidOf))

const tableOf = (clock: DatabaseTime.HostClock, settlements: ReadonlyArray<Settlement>): Statement.Fragment =>
  Rows.table("settlement", settlements, {
    id: ["uuid", uuidOf],
    claims: ["int4", ({ claims }) => claims],
    status: ["text", ({ next }) => statuses[next._tag]],
    due_in: ["float8?", ({ next }) => next._tag === "Again" ? clock.millisUntil(next.dueAt) : null],
    is_send: ["boolean", ({ send }) => send !== null],
    attempt: ["int4?", ({ send }) => send?.attempt],
    at: ["timestamptz?", ({ send }) => send?.at],
    duration_ms: ["float8?", ({ send }) => send?.durationMillis],
    http_status: ["int4?", ({ send }) => send?.outcome.httpStatus],
    reason: ["text?", ({ send }) => send?.outcome.reason],
    body: ["bytea?", ({ body, next }) => next._tag === "Again" ? body : null]
  })

/** The `disabled` line of each endpoint that is logged, unless the newest line of its log is one too. */
const selectFirstDisabled = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`
    SELECT DISTINCT ON (found.endpoint_id) found.id, found.claims
    FROM found
    LEFT JOIN LATERAL (
      SELECT reason
      FROM webhooks_send
      WHERE endpoint_id = found.endpoint_id
      ORDER BY at DESC, delivery_id DESC, claims DESC
      LIMIT 1
    ) AS newest ON true
    WHERE found.is_disabled AND newest.reason IS DISTINCT FROM 'disabled'
    ORDER BY found.endpoint_id, found.id, found.claims
  `

const insertSends = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`
    INSERT INTO webhooks_send (
      delivery_id, claims, endpoint_id, type, attempt, at, duration_ms, http_status, reason
    )
    SELECT
      found.id, found.claims, found.endpoint_id, event.type, found.attempt, found.at, found.duration_ms,
      found.http_status, found.reason
    FROM found
    CROSS JOIN LATERAL (SELECT type FROM webhooks_event WHERE id = found.event_id LIMIT 1) AS event
    WHERE found.is_send
      AND (NOT found.is_disabled OR (found.id, found.claims) IN (SELECT id, claims FROM first_disabled))
    ON CONFLICT (delivery_id, claims) DO NOTHING
  `
