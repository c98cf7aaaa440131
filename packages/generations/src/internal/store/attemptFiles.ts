/** Statements about the files that the attempts of ended generations may have left. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { GenerationId, Output } from "../../Generation.ts"
import type { GenerationStore } from "../../GenerationStore.ts"

type Store = GenerationStore["Service"]

export const attemptFiles = (sql: SqlClient.SqlClient): Store["attemptFiles"] => (now, limit) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    SELECT id, coalesce((attempts -> -1 ->> 'epoch')::int, 0) AS epoch, output
    FROM generation_job
    WHERE attempt_files_due <= ${clock.toDatabase(now)}
    ORDER BY attempt_files_due
    LIMIT ${limit}
  `).pipe(
      decodeRows,
      Effect.map((rows) =>
        rows.map(({ epoch, id, output }) => ({
          id: GenerationId.fromUuid(id),
          epoch,
          output: Option.getOrUndefined(decodeOutput(output))
        }))
      ),
      mapSql("GenerationStore.attemptFiles")
    )

export const setAttemptFilesDue = (sql: SqlClient.SqlClient): Store["setAttemptFilesDue"] => (ids, due) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    UPDATE generation_job SET attempt_files_due = ${clock.toDatabase(due)}
    WHERE id = ANY(${Rows.array("uuid", ids.map(GenerationId.toUuid))}) AND finished_at IS NOT NULL
  `).pipe(Effect.asVoid, mapSql("GenerationStore.setAttemptFilesDue"))

export const attemptFilesDeleted = (sql: SqlClient.SqlClient): Store["attemptFilesDeleted"] => (ids, now) =>
  Effect.flatMap(DatabaseTime.hostClock, (clock) =>
    sql`
    UPDATE generation_job SET attempt_files_due = NULL
    WHERE id = ANY(${Rows.array("uuid", ids.map(GenerationId.toUuid))}) AND attempt_files_due <= ${
      clock.toDatabase(now)
    }
  `).pipe(Effect.asVoid, mapSql("GenerationStore.attemptFilesDeleted"))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Each output is decoded separately, so that a damaged one does not hide the others. */
const decodeRows = Rows.decodeAll(Schema.Struct({ id: Schema.String, epoch: Schema.Int, output: Schema.Unknown }))

const decodeOutput = Schema.decodeUnknownOption(Schema.NullOr(Output))
