/** Statements that start generations, and record and read their attempts. */
import { Rows } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { GenerationId } from "../../Generation.ts"
import { Attempt, AttemptEnd, attemptsKept, type GenerationStore, type Start } from "../../GenerationStore.ts"
import { columns, decodeReadable } from "./generationRow.ts"

type Store = GenerationStore["Service"]

/** Starts generations, and adds attempts to them and to those that have started. */
export const start = (sql: SqlClient.SqlClient): Store["start"] => (starts) =>
  sql`
    WITH start AS MATERIALIZED (
      SELECT * FROM ${
    Rows.table("start", starts, {
      id: ["uuid", ({ id }) => GenerationId.toUuid(id)],
      at: ["timestamptz", ({ at }) => at],
      attempt: ["jsonb", (start) => encode(attemptOf(start))]
    })
  }
    ), started AS (
      UPDATE generation_job AS job
      SET status = 'processing', started_at = start.at, attempts = ${addedIn(sql)}
      FROM start
      WHERE job.id = start.id AND job.status = 'queued'
      RETURNING job.*
    ), continued AS (
      UPDATE generation_job AS job
      SET attempts = ${addedIn(sql)}
      FROM start
      WHERE job.id = start.id AND job.status = 'processing'
    )
    SELECT ${sql.literal(columns)} FROM started
  `.pipe(decodeReadable, mapSql("GenerationStore.start"))

/** Ends the last attempts of generations. */
export const endAttempts = (sql: SqlClient.SqlClient): Store["endAttempts"] => (attempts, at, end) =>
  sql`
    UPDATE generation_job AS job
    SET attempts = (job.attempts - -1) || jsonb_build_array((job.attempts -> -1) || ended.change)
    FROM ${
    Rows.table("ended", attempts, {
      id: ["uuid", ({ id }) => GenerationId.toUuid(id)],
      epoch: ["int4?", ({ epoch }) => epoch],
      change: ["jsonb", () => encodeChange({ endedAt: at, end })]
    })
  }
    WHERE job.id = ended.id
      AND job.status = 'processing'
      AND job.attempts -> -1 ->> 'end' IS NULL
      AND job.attempts -> -1 ->> 'epoch' = coalesce(ended.epoch::text, job.attempts -> -1 ->> 'epoch')
  `.pipe(Effect.asVoid, mapSql("GenerationStore.endAttempts"))

/** Reads the attempts of a generation. */
export const attempts = (sql: SqlClient.SqlClient): Store["attempts"] => (id) =>
  sql`SELECT attempts FROM generation_job WHERE id = ${GenerationId.toUuid(id)}`.pipe(
    decodeRows,
    Effect.map((rows) => rows.flatMap(({ attempts }) => attempts)),
    mapSql("GenerationStore.attempts")
  )

/** The attempt that starts. */
export const attemptOf = ({ at, attempt, epoch, worker }: Start): Attempt => ({
  attempt,
  epoch,
  worker,
  startedAt: at,
  endedAt: null,
  end: null
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const encode = Schema.encodeSync(Attempt)

const encodeChange = Schema.encodeSync(
  Schema.Struct({ endedAt: Schema.DateTimeUtcFromString, end: AttemptEnd })
)

const decodeRows = Rows.decodeAll(Schema.Struct({ attempts: Schema.Array(Attempt) }))

/** The attempts of `job` with that of `start`. */
const addedIn = (sql: SqlClient.SqlClient) =>
  sql.literal(`(
    CASE WHEN jsonb_array_length(job.attempts) < ${attemptsKept} THEN job.attempts ELSE job.attempts - 0 END
  ) || jsonb_build_array(start.attempt)`)
