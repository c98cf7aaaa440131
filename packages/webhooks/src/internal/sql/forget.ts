/** Statements that forget an account, in sets of a given size. They wait for locked rows, in the order of the store. */
import * as Rows from "@kinora/persistence/Rows"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { lockAccount } from "./endpoints.ts"
import { IdRow } from "./rows.ts"
import { deleteEvents } from "./sweep.ts"

type Sql = SqlClient.SqlClient

/**
 * Removes the endpoints of an account, then deletes up to `limit` rows: deliveries, then the lines of one endpoint after the other.
 * Returns the number of deliveries, lines and endpoints. An endpoint stays until its deliveries and its log are deleted, because
 * they have no account.
 */
export const forget = Effect.fnUntraced(function*(sql: Sql, account: string, limit: number) {
  yield* lockAccount(sql, account)
  const live = yield* idRows(lockLive(sql, account))
  if (live.length > 0) yield* remove(sql, live.map(({ id }) => id))
  const removed = (yield* idRows(lockRemoved(sql, account))).map(({ id }) => id)
  let deleted = removed.length === 0 ? 0 : yield* deleteDeliveries(sql, removed, limit)
  for (const id of removed) {
    if (deleted < limit) deleted += yield* deleteLines(sql, id, limit - deleted)
    if (deleted < limit) deleted += yield* deleteEndpoint(sql, id)
  }
  return deleted
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const idRows = Rows.decodeAll(IdRow)

const lockLive = (sql: Sql, account: string) =>
  sql`SELECT id FROM webhooks_endpoint WHERE account = ${account} AND NOT is_removed ORDER BY id FOR UPDATE`

/** Reads all removed endpoints, of which the sweep leaves few. */
const lockRemoved = (sql: Sql, account: string) =>
  sql`SELECT id FROM webhooks_endpoint WHERE is_removed AND account = ${account} ORDER BY id FOR UPDATE`

const remove = (sql: Sql, endpoints: ReadonlyArray<string>) =>
  sql`
    WITH secrets AS (DELETE FROM webhooks_secret WHERE endpoint_id = ANY(${Rows.array("uuid", endpoints)})),
      failures AS (DELETE FROM webhooks_failing WHERE endpoint_id = ANY(${Rows.array("uuid", endpoints)}))
    UPDATE webhooks_endpoint SET is_removed = true WHERE id = ANY(${Rows.array("uuid", endpoints)})
  `

/**
 * Also those that a worker has claimed: their outcome is not stored. Locks in the order of ids, regardless of the endpoints, as a
 * settlement does, and all of them before the events, as a sweep does. Looks again if others have deleted some of them meanwhile.
 */
const deleteDeliveries = Effect.fnUntraced(function*(sql: Sql, endpoints: ReadonlyArray<string>, limit: number) {
  let deleted = 0
  while (deleted < limit) {
    const found = yield* idRows(selectFirst(sql, endpoints, limit - deleted))
    if (found.length === 0) break
    const events = yield* idRows(sql`
      DELETE FROM webhooks_delivery
      WHERE id = ANY(ARRAY(
        SELECT id FROM webhooks_delivery
        WHERE id = ANY(${Rows.array("uuid", found.map(({ id }) => id))})
        ORDER BY id
        FOR UPDATE
      ))
      RETURNING event_id AS id
    `)
    if (events.length > 0) yield* deleteEvents(sql, [...new Set(events.map(({ id }) => id))])
    const isLast = found.length < limit - deleted
    deleted += events.length
    if (isLast) break
  }
  return deleted
})

/** Reads up to `limit` deliveries of each endpoint from the index. */
const selectFirst = (sql: Sql, endpoints: ReadonlyArray<string>, limit: number) =>
  sql`
    SELECT delivery.id
    FROM unnest(${Rows.array("uuid", endpoints)}) AS endpoint (id)
    CROSS JOIN LATERAL (
      SELECT id FROM webhooks_delivery WHERE endpoint_id = endpoint.id ORDER BY id LIMIT ${limit}
    ) AS delivery
    ORDER BY delivery.id
    LIMIT ${limit}
  `

const deleteLines = (sql: Sql, endpoint: string, limit: number) =>
  Effect.map(
    sql`
      WITH old AS MATERIALIZED (
        SELECT delivery_id, claims
        FROM webhooks_send
        WHERE endpoint_id = ${endpoint}
        ORDER BY at, delivery_id, claims
        LIMIT ${limit}
        FOR UPDATE
      )
      DELETE FROM webhooks_send AS send
      USING old
      WHERE send.delivery_id = old.delivery_id AND send.claims = old.claims
      RETURNING 1
    `,
    (rows) => rows.length
  )

/** An endpoint for which an event was published meanwhile stays for the next call, or for the sweep. */
const deleteEndpoint = (sql: Sql, endpoint: string) =>
  Effect.map(
    sql`
      WITH forgotten AS (
        DELETE FROM webhooks_endpoint
        WHERE id = ${endpoint}
          AND NOT EXISTS (SELECT FROM webhooks_delivery WHERE endpoint_id = ${endpoint})
          AND NOT EXISTS (SELECT FROM webhooks_send WHERE endpoint_id = ${endpoint})
        RETURNING id
      ), failures AS (
        DELETE FROM webhooks_failing AS failing USING forgotten WHERE failing.endpoint_id = forgotten.id
      )
      SELECT 1 FROM forgotten
    `,
    (rows) => rows.length
  )
