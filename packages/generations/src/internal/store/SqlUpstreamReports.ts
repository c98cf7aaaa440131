/** `UpstreamReports` in Postgres. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { UpstreamReports } from "../../UpstreamReports.ts"

/** Requires the tables of this package's migrations. */
export const layer: Layer.Layer<UpstreamReports, never, SqlClient.SqlClient> = Layer.effect(
  UpstreamReports,
  Effect.map(SqlClient.SqlClient, (sql) => UpstreamReports.of({ put: put(sql), remove: remove(sql), list: list(sql) }))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Store = UpstreamReports["Service"]

// Skips locked rows, so that workers do not wait for each other.
const put = (sql: SqlClient.SqlClient): Store["put"] => (worker, reports, now) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    WITH expired AS (
      DELETE FROM generation_upstream_report WHERE (worker, upstream) IN (
        SELECT worker, upstream FROM generation_upstream_report
        WHERE until <= ${clock.toDatabase(now)} AND worker <> ${worker}
        FOR UPDATE SKIP LOCKED
      )
    )
    INSERT INTO generation_upstream_report (worker, upstream, status, retry_at, until)
    SELECT worker, upstream, status,
      ${clock.now} + retry_in * interval '1 millisecond', ${clock.now} + valid_for * interval '1 millisecond'
    FROM ${
      Rows.table("report", reports, {
        worker: ["text", ({ worker }) => worker],
        upstream: ["text", ({ upstream }) => upstream],
        status: ["text", ({ status }) => status],
        retry_in: ["float8", ({ retryAt }) => clock.millisUntil(retryAt)],
        valid_for: ["float8", ({ until }) => clock.millisUntil(until)]
      })
    }
    ON CONFLICT (worker, upstream) DO UPDATE
    SET status = excluded.status, retry_at = excluded.retry_at, until = excluded.until
  `).pipe(Effect.asVoid, mapSql("UpstreamReports.put"))

const remove = (sql: SqlClient.SqlClient): Store["remove"] => (worker, upstreams) =>
  sql`
    DELETE FROM generation_upstream_report
    WHERE worker = ${worker} AND upstream = ANY(${Rows.array("text", upstreams)})
  `.pipe(Effect.asVoid, mapSql("UpstreamReports.remove"))

const list = (sql: SqlClient.SqlClient): Store["list"] => (now) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT worker, upstream, status, ${clock.toHost(sql`retry_at`)} AS "retryAt", ${clock.toHost(sql`until`)} AS until
    FROM generation_upstream_report
    WHERE until > ${clock.toDatabase(now)}
  `).pipe(decodeReports, mapSql("UpstreamReports.list"))

const decodeReports = Rows.decodeAll(Schema.Struct({
  worker: Schema.String,
  upstream: Schema.String,
  status: Schema.Literals(["degraded", "paused"]),
  retryAt: Schema.DateTimeUtcFromDate,
  until: Schema.DateTimeUtcFromDate
}))
