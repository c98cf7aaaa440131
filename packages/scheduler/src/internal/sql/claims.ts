/** Statements that claim queued jobs. `internal/leases.ts` and `internal/priorities.ts` have the same rules as pure functions. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Pipelining from "@kinora/persistence/Pipelining"
import * as Rows from "@kinora/persistence/Rows"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { ClaimTerms, LeaseTerms } from "../storeTypes.ts"
import { holds, isClaimed } from "./leases.ts"
import { ageInSql, isAheadInSql } from "./priorities.ts"
import { claimedColumns, decodeClaimed, decodeClaimedUnlessAhead, toClaimed } from "./rows.ts"

/** Claims jobs for a worker. */
export const claim = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, terms: ClaimTerms) {
  const now = yield* DatabaseTime.now
  const begun = yield* Pipelining.begun(sql)
  if (terms.alone) return inOrder(yield* decodeClaimed(claimAloneStatement(sql, terms, now, begun)))
  const { isAhead, rows } = yield* decodeClaimedUnlessAhead(claimStatement(sql, terms, now, begun))
  return inOrder(isAhead ? yield* decodeClaimed(exchangingClaimStatement(sql, terms, now)) : rows)
})

/**
 * Claims jobs in the order of their places, unless a job is queued that comes before others of its lane. Then it claims nothing, and
 * returns a row without a job whose `isAhead` is true, so that a service without priorities pays for one read of an empty index.
 *
 * The indexes contain only queued jobs, by kind, share and position,
 * and Postgres merges the ranges of the kinds, so the cost depends neither on how many jobs and
 * lanes there are nor on the jobs of other kinds. Jobs are locked one by one in the merged order,
 * so no job is locked that is not claimed. SKIP LOCKED keeps workers from waiting for each other's
 * jobs, and MATERIALIZED keeps a plan from applying the limit twice. Claims nothing without the condition `begun`.
 */
export const claimStatement: FirstStatement = (sql, terms, now, begun) =>
  sql`
    WITH first_ahead AS MATERIALIZED (
      SELECT id FROM scheduler_job WHERE ${sql.literal(isAheadInSql)}
      ORDER BY lane_id, kind, priority DESC, ${sql.literal(ageInSql)}
      LIMIT 1
    ), next AS MATERIALIZED (
      ${placesInOrder(sql, terms, now, sql`NOT EXISTS (SELECT FROM first_ahead) AND ${begun}`)}
    ), claimed AS (
      ${leaseNext(sql, terms, now)}
    )
    SELECT claimed.*, found."isAhead"
    FROM (SELECT EXISTS (SELECT FROM first_ahead) AS "isAhead") AS found LEFT JOIN claimed ON true
  `

/**
 * Claims jobs like `claimStatement`, except that a job whose lane has jobs that come before it stays queued, and exchanges its place
 * with one of them. Reads these from an index that contains no others.
 */
export const exchangingClaimStatement: ClaimStatement = (sql, terms, now) =>
  sql`
    WITH selected AS MATERIALIZED (
      ${placesInOrder(sql, terms, now, sql`true`)}
    )
    ${exchangedPlaces(sql, terms)}
    ${leaseNext(sql, terms, now)}
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type ClaimStatement = (
  sql: SqlClient.SqlClient,
  terms: ClaimTerms,
  now: Statement.Fragment
) => Statement.Statement<unknown>

/** A statement that can be the first one of its transaction. */
type FirstStatement = (
  ...args: [...Parameters<ClaimStatement>, begun: Statement.Fragment]
) => Statement.Statement<unknown>

/** In the order of their places. `decodeClaimed` orders them by position. */
const inOrder = (rows: Effect.Success<ReturnType<typeof decodeClaimed>>) =>
  rows.toSorted((a, b) => a.share - b.share).map(toClaimed)

/** Locks the jobs whose places come first. */
const placesInOrder = (
  sql: SqlClient.SqlClient,
  terms: ClaimTerms,
  now: Statement.Fragment,
  condition: Statement.Fragment
) =>
  sql`
    SELECT locked.*
    FROM (${queuedInOrder(sql, terms)}) AS queued
    CROSS JOIN LATERAL (
      SELECT id, lane_id, share, position, started_at, priority, ${sql.literal(ageInSql)} AS age FROM scheduler_job
      WHERE id = queued.id AND state = 'queued' AND alone_from IS NULL
      FOR UPDATE SKIP LOCKED
    ) AS locked
    WHERE ${holds(sql, terms, now)} AND ${condition}
    ORDER BY queued.share, queued.position
    LIMIT ${terms.limit}
  `

const claimAloneStatement: FirstStatement = (sql, terms, now, begun) =>
  sql`
    WITH next AS MATERIALIZED (
      SELECT id, share, position FROM scheduler_job AS job
      WHERE state = 'queued' AND alone_from <= ${now}
        AND ${isClaimed(sql, terms)}
        AND group_id <> ALL(${Rows.array("text", terms.except)})
        AND ${holds(sql, terms, now)} AND ${begun}
      ORDER BY alone_from, position
      LIMIT ${Math.min(1, terms.limit)}
      FOR UPDATE SKIP LOCKED
    )
    ${leaseNext(sql, terms, now)}
  `

/** Leases the locked jobs of `next` to the worker, with the places that they have there. */
const leaseNext = (sql: SqlClient.SqlClient, terms: LeaseTerms, now: Statement.Fragment) =>
  sql`
    UPDATE scheduler_job AS job SET
      state = 'running',
      epoch = job.epoch + 1,
      attempt = job.attempt + 1,
      started_at = coalesce(job.started_at, ${now}),
      share = next.share,
      position = next.position,
      lease = ${terms.lease},
      worker = ${terms.worker}
    FROM next
    WHERE job.id = next.id
    RETURNING ${sql.literal(claimedColumns)}, ${now} AS "claimedAt"
  `

/** The jobs that come before those of `selected`, and the exchanges of their places. */
const exchangedPlaces = (sql: SqlClient.SqlClient, terms: ClaimTerms) =>
  sql`
    , lanes AS MATERIALIZED (
      SELECT lane_id, count(*) AS places FROM selected WHERE started_at IS NULL GROUP BY lane_id
    ), ahead AS MATERIALIZED (
      SELECT first.* FROM lanes
      CROSS JOIN LATERAL (
        SELECT locked.* FROM (${aheadInOrder(sql, terms)}) AS in_order
        CROSS JOIN LATERAL (
          SELECT id, lane_id, share, position, priority, ${sql.literal(ageInSql)} AS age FROM scheduler_job
          -- Without the whole condition of the index, which the planner would read as a whole while it is empty.
          WHERE id = in_order.id AND state = 'queued' AND started_at IS NULL AND alone_from IS NULL
          FOR UPDATE SKIP LOCKED
        ) AS locked
        ORDER BY in_order.priority DESC, in_order.age
        LIMIT lanes.places
      ) AS first
    ), ranked AS (
      SELECT
        id, lane_id, share, position, has_place,
        row_number() OVER (PARTITION BY lane_id ORDER BY priority DESC, age) AS rank,
        count(*) FILTER (WHERE has_place) OVER (PARTITION BY lane_id) AS places
      FROM (
        SELECT id, lane_id, share, position, priority, age, true AS has_place FROM selected
        WHERE started_at IS NULL AND lane_id IN (SELECT lane_id FROM lanes)
        UNION ALL
        SELECT id, lane_id, share, position, priority, age, false FROM ahead WHERE id NOT IN (SELECT id FROM selected)
      ) AS candidate
    ), pairs AS MATERIALIZED (
      SELECT displaced.id AS displaced, newcomer.id AS newcomer, newcomer.share, newcomer.position
      FROM (
        SELECT id, lane_id, row_number() OVER (PARTITION BY lane_id ORDER BY rank) AS pair FROM ranked
        WHERE has_place AND rank > places
      ) AS displaced
      JOIN (
        SELECT id, lane_id, share, position, row_number() OVER (PARTITION BY lane_id ORDER BY rank) AS pair FROM ranked
        WHERE NOT has_place AND rank <= places
      ) AS newcomer USING (lane_id, pair)
    ), displaced AS (
      UPDATE scheduler_job AS job
      SET share = pairs.share, position = pairs.position, own_position = coalesce(job.own_position, job.position)
      FROM pairs
      WHERE job.id = pairs.displaced
    ), next AS MATERIALIZED (
      SELECT coalesce(pairs.newcomer, selected.id) AS id, selected.share, selected.position
      FROM selected LEFT JOIN pairs ON pairs.displaced = selected.id
    )
  `

/** Jobs that a claim can skip at least, because other claims and units have locked them. It finds the jobs behind more of them at the next poll. */
const skippedMax = 256

/**
 * Literal number of rows to read, since a prepared statement is planned without the values of its parameters, and the plan for
 * an unknown limit sorts all queued jobs. It is rounded, so that there are few statements.
 */
const lookedAt = (sql: SqlClient.SqlClient, { limit }: ClaimTerms) =>
  sql.literal(String(skippedMax + 16 * Math.ceil(limit / 16)))

const outsideOf = (sql: SqlClient.SqlClient, { except }: ClaimTerms) =>
  except.length === 0 ? sql`` : sql`AND group_id <> ALL(${Rows.array("text", except)})`

/**
 * Queued jobs that a claim selects by share and position, without those of some groups. Reads the first
 * ones of each kind from an index, and sorts them together.
 */
const queuedInOrder = (sql: SqlClient.SqlClient, terms: ClaimTerms) => {
  const ofKind = (kind: string, resumable: Statement.Fragment) =>
    sql`
      SELECT id, share, position FROM (
        SELECT id, share, position FROM scheduler_job
        WHERE state = 'queued' AND kind = ${kind} AND alone_from IS NULL ${resumable} ${outsideOf(sql, terms)}
        ORDER BY share, position
        LIMIT ${lookedAt(sql, terms)}
      ) AS of_kind
    `
  const ranges = [
    ...terms.kinds.map((kind) => ofKind(kind, sql``)),
    ...terms.resumableKinds.map((kind) => ofKind(kind, sql`AND resumable`))
  ]
  return sql`${sql.join(" UNION ALL ", false)(ranges)} ORDER BY share, position`
}

/** Jobs of the lane `lanes.lane_id` that come before those in the order of their places, by priority and age. */
const aheadInOrder = (sql: SqlClient.SqlClient, terms: ClaimTerms) => {
  const ranges = terms.kinds.map((kind) =>
    sql`
      SELECT id, priority, age FROM (
        SELECT id, priority, ${sql.literal(ageInSql)} AS age FROM scheduler_job
        WHERE lane_id = lanes.lane_id AND kind = ${kind} AND ${sql.literal(isAheadInSql)} ${outsideOf(sql, terms)}
        ORDER BY priority DESC, ${sql.literal(ageInSql)}
        LIMIT ${lookedAt(sql, terms)}
      ) AS of_kind
    `
  )
  return ranges.length === 0
    ? sql`SELECT id, priority, position AS age FROM scheduler_job WHERE false`
    : sql`${sql.join(" UNION ALL ", false)(ranges)} ORDER BY priority DESC, age`
}
