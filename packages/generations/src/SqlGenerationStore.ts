/** `GenerationStore`, `ImageStore`, `ModelPauses` and `UpstreamReports` in Postgres. Every operation on a set is one statement, whatever its size. */
import type { Migrations } from "@kinora/persistence"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { GenerationStore } from "./GenerationStore.ts"
import type { ImageStore } from "./ImageStore.ts"
import * as AttemptFiles from "./internal/store/attemptFiles.ts"
import * as Attempts from "./internal/store/generationAttempts.ts"
import * as Deletions from "./internal/store/generationDeletions.ts"
import * as Reads from "./internal/store/generationReads.ts"
import * as Writes from "./internal/store/generationWrites.ts"
import * as Tables from "./internal/store/migrations.ts"
import * as SqlImageStore from "./internal/store/SqlImageStore.ts"
import * as SqlModelPauses from "./internal/store/SqlModelPauses.ts"
import * as SqlUpstreamReports from "./internal/store/SqlUpstreamReports.ts"
import type { ModelPauses } from "./ModelPauses.ts"
import type { UpstreamReports } from "./UpstreamReports.ts"

/** The migrations of this package's tables. */
export const migrations: Migrations.Migrations = Tables.migrations

/** Requires the tables of `migrations`. */
export const layer: Layer.Layer<
  GenerationStore | ImageStore | ModelPauses | UpstreamReports,
  never,
  SqlClient.SqlClient
> = Layer
  .suspend(() => Layer.mergeAll(layerGenerations, SqlImageStore.layer, SqlModelPauses.layer, SqlUpstreamReports.layer))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerGenerations: Layer.Layer<GenerationStore, never, SqlClient.SqlClient> = Layer.effect(
  GenerationStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    GenerationStore.of({
      insert: Writes.insert(sql),
      find: Reads.find(sql),
      list: Reads.list(sql),
      filter: Reads.filter(sql),
      search: Reads.search(sql),
      queue: Writes.queue(sql),
      unqueue: Writes.unqueue(sql),
      start: Attempts.start(sql),
      endAttempts: Attempts.endAttempts(sql),
      attempts: Attempts.attempts(sql),
      end: Writes.end(sql),
      usage: Reads.usage(sql),
      usageByKey: Reads.usageByKey(sql),
      waiting: Reads.waiting(sql),
      expired: Reads.expired(sql),
      putOff: Writes.putOff(sql),
      clearOutput: Writes.clearOutput(sql),
      attemptFiles: AttemptFiles.attemptFiles(sql),
      setAttemptFilesDue: AttemptFiles.setAttemptFilesDue(sql),
      attemptFilesDeleted: AttemptFiles.attemptFilesDeleted(sql),
      deleteEnded: Deletions.deleteEnded(sql),
      forget: Deletions.forget(sql),
      deleteUsage: Deletions.deleteUsage(sql)
    }))
)
