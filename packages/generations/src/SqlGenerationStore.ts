/** Keeps generations and their images in Postgres. Every operation is one statement, whatever the size of its set. */
import type { Migrations } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Generation, GenerationId, Kind, Output, Plan } from "./Generation.ts"
import { GenerationStore } from "./GenerationStore.ts"
import type { ImageStore } from "./ImageStore.ts"
import { listing } from "./internal/store/generationPage.ts"
import * as Rows from "./internal/store/generationRow.ts"
import * as Schemas from "./internal/store/migrations.ts"
import * as SqlImageStore from "./internal/store/SqlImageStore.ts"

/** The tables of this package. */
export const migrations: Migrations.Migrations = Schemas.migrations

/** Expects the schema of `migrations`; runs no DDL of its own. */
export const layer: Layer.Layer<GenerationStore | ImageStore, never, SqlClient.SqlClient> = Layer.suspend(() =>
  Layer.merge(layerGenerations, SqlImageStore.layer)
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerGenerations: Layer.Layer<GenerationStore, never, SqlClient.SqlClient> = Layer.effect(
  GenerationStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const reads = makeReads(sql)
    const columns = sql.literal(Rows.columns)
    const start = (starts: string) =>
      sql`
        WITH started AS (
          UPDATE generation_job AS job
          SET status = 'processing', started_at = start.at
          FROM jsonb_to_recordset(${starts}::jsonb) AS start (id uuid, at timestamptz)
          WHERE job.id = start.id AND job.status = 'queued'
          RETURNING job.*
        )
        SELECT ${columns} FROM started
      `
    // A row that changes here is counted here. All who count in a row hold the lock of
    // its lane, and the order keeps it so for those who would not.
    const end = (endings: string) =>
      sql`
        WITH ended AS (
          UPDATE generation_job AS job
          SET status = ending.status,
              failure = ending.failure,
              output = ending.output,
              result_expires_at = ending.expires_at,
              finished_at = ending.at,
              refunded = ending.status <> 'completed'
          FROM jsonb_to_recordset(${endings}::jsonb) AS ending (
            id uuid, status text, failure jsonb, output jsonb, at timestamptz, expires_at timestamptz
          )
          WHERE job.id = ending.id
            AND (job.status = 'processing' OR (ending.status <> 'completed' AND job.status IN ('pending', 'queued')))
          RETURNING job.*
        ), counted AS (
          INSERT INTO generation_usage AS usage (
            account, day, plan, model, kind, completed, failed, cancelled, credits
          )
          SELECT
            account, (finished_at AT TIME ZONE 'UTC')::date, plan, model, kind,
            count(*) FILTER (WHERE status = 'completed'),
            count(*) FILTER (WHERE status = 'failed'),
            count(*) FILTER (WHERE status = 'cancelled'),
            coalesce(sum(cost_credits) FILTER (WHERE status = 'completed'), 0)
          FROM ended
          GROUP BY 1, 2, 3, 4, 5
          ORDER BY 1, 2, 3, 4, 5
          ON CONFLICT (account, day, plan, model, kind) DO UPDATE
          SET completed = usage.completed + excluded.completed,
              failed = usage.failed + excluded.failed,
              cancelled = usage.cancelled + excluded.cancelled,
              credits = usage.credits + excluded.credits
        )
        SELECT ${columns} FROM ended
      `

    return GenerationStore.of({
      ...reads,

      insert: (generations) =>
        sql`
          INSERT INTO generation_job (
            id, account, model, kind, mode, plan, status, prompt, params, images, cost_credits, quota_kind, refunded,
            created_at
          )
          SELECT
            id, account, model, kind, mode, plan, status, prompt, params, images, cost_credits, quota_kind, refunded,
            created_at
          FROM jsonb_to_recordset(${JSON.stringify(generations.map(Rows.toInsert))}::jsonb) AS added (
            id uuid, account text, model text, kind text, mode text, plan text, status text, prompt text, params jsonb,
            images jsonb, cost_credits bigint, quota_kind text, refunded boolean, created_at timestamptz
          )
        `.pipe(Effect.asVoid, mapSql("GenerationStore.insert")),

      queue: (ids) =>
        sql`
          UPDATE generation_job SET status = 'queued'
          WHERE id = ANY(${ids.map(GenerationId.toUuid)}::uuid[]) AND status = 'pending'
        `.pipe(Effect.asVoid, mapSql("GenerationStore.queue")),

      start: (starts) =>
        start(JSON.stringify(starts.map(Rows.toStart))).pipe(
          Effect.flatMap(readable),
          mapSql("GenerationStore.start")
        ),

      end: (endings) =>
        end(JSON.stringify(endings.map(Rows.toEnding))).pipe(
          Effect.flatMap(readable),
          mapSql("GenerationStore.end")
        ),

      putOff: (ids, until) =>
        sql`
          UPDATE generation_job SET put_off_until = ${DateTime.toDate(until)}
          WHERE id = ANY(${ids.map(GenerationId.toUuid)}::uuid[])
        `.pipe(Effect.asVoid, mapSql("GenerationStore.putOff")),

      clearOutput: (ids) =>
        sql`
          UPDATE generation_job SET output = NULL
          WHERE id = ANY(${ids.map(GenerationId.toUuid)}::uuid[]) AND status = 'completed'
        `.pipe(Effect.asVoid, mapSql("GenerationStore.clearOutput"))
    })
  })
)

const decodeRow = Schema.decodeUnknownOption(Rows.Row)

/** What changed, each read by itself, so that one that is damaged does not undo the change of the others. */
const readable = Effect.fnUntraced(function*(rows: ReadonlyArray<{ readonly id?: unknown }>) {
  const generations: Array<Generation> = []
  for (const row of rows) {
    const decoded = decodeRow(row)
    if (Option.isSome(decoded)) generations.push(Rows.fromRow(decoded.value))
    else yield* Effect.logError("A generation cannot be read", row.id)
  }
  return generations
})

const makeReads = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(Rows.columns)
  const rows = SqlSchema.findAll({
    Request: Schema.Struct({ ids: Schema.Array(Schema.String) }),
    Result: Rows.Row,
    execute: ({ ids }) => sql`SELECT ${columns} FROM generation_job WHERE id = ANY(${ids}::uuid[])`
  })
  const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Rows.Row))
  const decodeUsage = Schema.decodeUnknownEffect(Schema.Array(UsageRow))
  const decodeSubjects = Schema.decodeUnknownEffect(Schema.Array(SubjectRow))
  const decodeExpired = Schema.decodeUnknownEffect(Schema.Array(ExpiredRow))
  const decodeOutput = Schema.decodeUnknownOption(Output)

  return {
    find: (ids) =>
      rows({ ids: ids.map(GenerationId.toUuid) }).pipe(
        Effect.map((rows) => rows.map(Rows.fromRow)),
        mapSql("GenerationStore.find")
      ),

    list: (account, selection) =>
      listing(sql, account, selection).pipe(
        Effect.flatMap(decodeRows),
        Effect.map((rows) => rows.map(Rows.fromRow)),
        mapSql("GenerationStore.list")
      ),

    usage: (account, { from, to }) =>
      sql`
        SELECT
          to_char(day, 'YYYY-MM-DD') AS day, plan, model, kind,
          completed::text, failed::text, cancelled::text, credits::text
        FROM generation_usage
        WHERE account = ${account} AND day BETWEEN ${from}::date AND ${to}::date
        ORDER BY generation_usage.day, plan COLLATE "C", model COLLATE "C", kind COLLATE "C"
      `.pipe(Effect.flatMap(decodeUsage), mapSql("GenerationStore.usage")),

    waiting: (models, limit, except = []) =>
      sql`
        SELECT id, account, plan
        FROM generation_job
        WHERE model = ANY(${models}::text[])
          AND status IN ('pending', 'queued')
          AND id <> ALL(${except.map(GenerationId.toUuid)}::uuid[])
        ORDER BY id
        LIMIT ${limit}
      `.pipe(
        Effect.flatMap(decodeSubjects),
        Effect.map((rows) => rows.map((row) => ({ ...row, id: GenerationId.fromUuid(row.id) }))),
        mapSql("GenerationStore.waiting")
      ),

    // `greatest` passes over null, so who was never put off is due when the window ends.
    expired: (now, limit) =>
      sql`
        SELECT id, output
        FROM generation_job
        WHERE output IS NOT NULL AND greatest(result_expires_at, put_off_until) <= ${DateTime.toDate(now)}
        ORDER BY greatest(result_expires_at, put_off_until)
        LIMIT ${limit}
      `.pipe(
        Effect.flatMap(decodeExpired),
        Effect.map((rows) =>
          rows.map(({ id, output }) => ({
            id: GenerationId.fromUuid(id),
            output: Option.getOrUndefined(decodeOutput(output))
          }))
        ),
        mapSql("GenerationStore.expired")
      )
  } satisfies Partial<GenerationStore["Service"]>
}

const UsageRow = Schema.Struct({
  day: Schema.String,
  plan: Plan,
  model: Schema.String,
  kind: Kind,
  completed: Schema.NumberFromString,
  failed: Schema.NumberFromString,
  cancelled: Schema.NumberFromString,
  credits: Schema.NumberFromString
})

const SubjectRow = Schema.Struct({ id: Schema.String, account: Schema.String, plan: Plan })

/** What was stored as an output is read by itself, so that one that is damaged does not hide the others. */
const ExpiredRow = Schema.Struct({ id: Schema.String, output: Schema.Unknown })
