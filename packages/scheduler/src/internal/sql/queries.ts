/** Statements that find jobs without locking them. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { type Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { JobId } from "../ids.ts"
import { decodeStatuses, statusColumns } from "./rows.ts"

/** Jobs with these ids. */
export const find = (sql: SqlClient.SqlClient, jobs: ReadonlyArray<JobId>) =>
  decodeStatuses(sql`
    SELECT ${sql.literal(statusColumns)} FROM scheduler_job AS job
    WHERE job.id = ANY(${Rows.array("uuid", jobs)})
    ORDER BY job.id
  `)

/** Jobs that have not started and were enqueued longer ago than a duration, oldest first. */
export const waiting = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, age: Duration.Duration, limit: number, except: ReadonlyArray<JobId>) {
    const now = yield* DatabaseTime.now
    return yield* decodeStatuses(sql`
      SELECT ${sql.literal(statusColumns)} FROM scheduler_job AS job
      WHERE job.state <> 'running'
        AND job.epoch = 0
        AND job.enqueued_at < ${DatabaseTime.before(now, age)}
        AND job.id <> ALL(${Rows.array("uuid", except)})
      ORDER BY job.enqueued_at, job.position
      LIMIT ${limit}
    `)
  }
)
