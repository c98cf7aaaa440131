/** `ModelPauses` in Postgres. */
import { Rows } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ModelPauses } from "../../ModelPauses.ts"

/** Requires the tables of this package's migrations. */
export const layer: Layer.Layer<ModelPauses, never, SqlClient.SqlClient> = Layer.effect(
  ModelPauses,
  Effect.map(SqlClient.SqlClient, (sql) =>
    ModelPauses.of({
      list: sql`SELECT model, paused_at AS at FROM generation_model_pause`.pipe(
        decodePauses,
        mapSql("ModelPauses.list")
      ),
      pause: ({ at, model }) =>
        sql`
          INSERT INTO generation_model_pause (model, paused_at) VALUES (${model}, ${DateTime.toDate(at)})
          ON CONFLICT (model) DO NOTHING
        `.pipe(Effect.asVoid, mapSql("ModelPauses.pause")),
      resume: (models) =>
        sql`DELETE FROM generation_model_pause WHERE model = ANY(${Rows.array("text", models)})`.pipe(
          Effect.asVoid,
          mapSql("ModelPauses.resume")
        )
    }))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodePauses = Rows.decodeAll(Schema.Struct({ model: Schema.String, at: Schema.DateTimeUtcFromDate }))
