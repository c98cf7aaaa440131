/**
 * The statements of a claim: claim, freeze and release.
 *
 * `= ANY` with an array and `LIMIT 1` keep these statements on primary keys. The planner cannot
 * know the size of a set, and with a join alone a high estimate leads to a scan of the table.
 */
import type * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import type { DateTime } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Claim, DeliveryId } from "../../Delivery.ts"
import { EndpointId } from "../../Endpoint.ts"
import type { Demand, FrozenBody } from "../../WebhookStore.ts"
import { selectSecrets } from "./endpoints.ts"
import { endpointColumns } from "./rows.ts"

/** A claim of a set of endpoints. */
export interface ClaimCommand {
  readonly demands: ReadonlyArray<Demand>
  readonly now: DateTime.Utc
  readonly until: DateTime.Utc
  readonly bytesMax: number
}

/**
 * Claims deliveries. Skips locked rows, so that workers do not wait for each other. The index
 * has the order of `ORDER BY due_at, id`, so a backlog is never sorted. The sizes are columns,
 * so the data of deliveries that are not claimed is not read. If an event does not exist, its
 * columns are null. Claims nothing without the condition `begun`.
 */
export const claim = (
  sql: SqlClient.SqlClient,
  clock: DatabaseTime.HostClock,
  command: ClaimCommand,
  begun: Statement.Fragment
): Statement.Statement<unknown> =>
  sql`
    WITH found AS MATERIALIZED (
      ${selectCandidates(sql, clock, command)}
      WHERE ${begun}
    ), lined_up AS (
      SELECT *, row_number() OVER (PARTITION BY place ORDER BY due_at, id) AS turn FROM found
    ), summed AS (
      SELECT
        id, due_at,
        row_number() OVER (ORDER BY turn, place) AS nth,
        sum(bytes) OVER (ORDER BY turn, place) AS bytes
      FROM lined_up
    ), next AS MATERIALIZED (
      SELECT id, due_at FROM summed WHERE nth = 1 OR bytes <= ${command.bytesMax}::int8
    ), claimed AS (
      UPDATE webhooks_delivery AS delivery
      SET due_at = ${clock.toDatabase(command.until)}, claims = delivery.claims + 1, is_claimed = true
      WHERE delivery.id = ANY(ARRAY(SELECT id FROM next))
      RETURNING
        delivery.id, delivery.event_id, delivery.endpoint_id, delivery.claims, delivery.claims_void,
        delivery.failed_sends, delivery.body
    )
    SELECT
      claimed.id, ${
    clock.toHost(sql`next.due_at`)
  } AS "dueAt", claimed.claims, claimed.claims - claimed.claims_void AS attempt,
      claimed.failed_sends AS "failedSends", claimed.body,
      ${sql.literal(endpointColumns)},
      ${
    selectSecrets(sql, clock, sql`secret.expires_at IS NULL OR secret.expires_at > ${clock.toDatabase(command.now)}`)
  },
      event.id AS "eventId", event.type, event.data, event.created_at AS "eventCreatedAt"
    FROM next
    JOIN claimed ON claimed.id = next.id
    CROSS JOIN LATERAL (SELECT * FROM webhooks_endpoint WHERE id = claimed.endpoint_id LIMIT 1) AS endpoint
    LEFT JOIN LATERAL (SELECT * FROM webhooks_event WHERE id = claimed.event_id LIMIT 1) AS event ON true
  `

/** Stores bodies of deliveries that the open transaction claimed. */
export const freeze = (
  sql: SqlClient.SqlClient,
  bodies: ReadonlyArray<FrozenBody>
): Statement.Statement<unknown> =>
  sql`
    UPDATE webhooks_delivery AS delivery SET body = made.body
    FROM ${Rows.table("made", bodies, { id: ["uuid", uuidOf], body: ["bytea", ({ body }) => body] })}
    WHERE delivery.id = ANY(${idsOf(bodies)}) AND delivery.id = made.id AND delivery.is_claimed
  `

/** Releases claims. Locks in the order of ids, so that two sets do not deadlock. */
export const release = (
  sql: SqlClient.SqlClient,
  clock: DatabaseTime.HostClock,
  claims: ReadonlyArray<Claim>,
  at: DateTime.Utc
): Statement.Statement<unknown> =>
  sql`
    WITH held AS MATERIALIZED (
      SELECT delivery.id
      FROM webhooks_delivery AS delivery
      JOIN ${Rows.table("claim", claims, { id: ["uuid", uuidOf], claims: ["int4", ({ claims }) => claims] })}
        ON claim.id = delivery.id
      WHERE delivery.id = ANY(${idsOf(claims)})
        AND delivery.is_claimed
        AND delivery.claims = claim.claims
      ORDER BY delivery.id
      FOR UPDATE OF delivery
    )
    UPDATE webhooks_delivery
    SET due_at = ${clock.toDatabase(at)}, claims_void = claims_void + 1, is_claimed = false
    WHERE id = ANY(ARRAY(SELECT id FROM held))
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const selectCandidates = (
  sql: SqlClient.SqlClient,
  clock: DatabaseTime.HostClock,
  { demands, now }: ClaimCommand
): Statement.Fragment =>
  sql`
    SELECT delivery.id, delivery.due_at, demand.place, delivery.bytes + coalesce(event.bytes, 0) AS bytes
    FROM ${
    Rows.table("demand", demands, {
      endpoint_id: ["uuid", ({ endpoint }) => EndpointId.toUuid(endpoint)],
      count: ["int4", ({ limit }) => limit]
    }, { place: "place" })
  }
    CROSS JOIN LATERAL (
      SELECT id FROM webhooks_endpoint WHERE id = demand.endpoint_id AND NOT is_removed LIMIT 1
    ) AS endpoint
    CROSS JOIN LATERAL (
      SELECT id, event_id, due_at, coalesce(octet_length(body), 0) AS bytes
      FROM webhooks_delivery
      WHERE endpoint_id = endpoint.id AND due_at <= ${clock.toDatabase(now)}
      ORDER BY due_at, id
      LIMIT demand.count
      FOR UPDATE SKIP LOCKED
    ) AS delivery
    LEFT JOIN LATERAL (SELECT bytes FROM webhooks_event WHERE id = delivery.event_id LIMIT 1) AS event ON true
  `

const uuidOf = ({ delivery }: { readonly delivery: DeliveryId }): string => DeliveryId.toUuid(delivery)

const idsOf = (set: ReadonlyArray<{ readonly delivery: DeliveryId }>): Statement.Fragment =>
  Rows.array("uuid", set.map(uuidOf))
