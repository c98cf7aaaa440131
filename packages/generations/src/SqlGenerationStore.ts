/** Keeps generations in Postgres. Every operation is one statement, whatever the size of its set. */
import type { Migrations } from "@kinora/persistence"
import { mapSql } from "@kinora/persistence/StorageError"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Failure, type Generation, GenerationId, Kind, Mode, Output, Params, Plan, Status } from "./Generation.ts"
import { GenerationStore } from "./GenerationStore.ts"
import * as Schemas from "./internal/migrations.ts"

/** The tables of this package. */
export const migrations: Migrations.Migrations = Schemas.migrations

/** Expects the schema of `migrations`; runs no DDL of its own. */
export const layer: Layer.Layer<GenerationStore, never, SqlClient.SqlClient> = Layer.effect(
  GenerationStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      id, account, model, kind, mode, plan, status, prompt, params, cost_credits::text, quota_kind, refunded, failure,
      output, result_expires_at, created_at, started_at, finished_at
    `)

    const findRows = SqlSchema.findAll({
      Request: Schema.Array(Schema.String),
      Result: Row,
      execute: (ids) => sql`SELECT ${columns} FROM generation_job WHERE id = ANY(${ids}::uuid[])`
    })

    const startRows = SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ id: Schema.String }),
      execute: (starts) =>
        sql`
          UPDATE generation_job AS job
          SET status = 'processing', started_at = start.at
          FROM jsonb_to_recordset(${starts}::jsonb) AS start (id uuid, at timestamptz)
          WHERE job.id = start.id AND job.status = 'queued'
          RETURNING job.id
        `
    })

    const waitingRows = SqlSchema.findAll({
      Request: Schema.Struct({ models: Schema.Array(Schema.String), limit: Schema.Int }),
      Result: Row,
      execute: ({ limit, models }) =>
        sql`
          SELECT ${columns}
          FROM generation_job
          WHERE model = ANY(${models}::text[]) AND status IN ('pending', 'queued')
          ORDER BY id
          LIMIT ${limit}
        `
    })

    const expiredRows = SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Date, limit: Schema.Int }),
      Result: Row,
      execute: ({ limit, now }) =>
        sql`
          SELECT ${columns}
          FROM generation_job
          WHERE output IS NOT NULL AND result_expires_at <= ${now}
          ORDER BY result_expires_at
          LIMIT ${limit}
        `
    })

    return GenerationStore.of({
      insert: (generations) =>
        sql`
          INSERT INTO generation_job (
            id, account, model, kind, mode, plan, status, prompt, params, cost_credits, quota_kind, refunded, created_at
          )
          SELECT id, account, model, kind, mode, plan, status, prompt, params, cost_credits, quota_kind, refunded, created_at
          FROM jsonb_to_recordset(${JSON.stringify(generations.map(toInsert))}::jsonb) AS added (
            id uuid, account text, model text, kind text, mode text, plan text, status text, prompt text, params jsonb,
            cost_credits bigint, quota_kind text, refunded boolean, created_at timestamptz
          )
        `.pipe(Effect.asVoid, mapSql("GenerationStore.insert")),

      find: (ids) =>
        findRows(ids.map(GenerationId.toUuid)).pipe(
          Effect.map((rows) => rows.map(fromRow)),
          mapSql("GenerationStore.find")
        ),

      queue: (ids) =>
        sql`
          UPDATE generation_job SET status = 'queued'
          WHERE id = ANY(${ids.map(GenerationId.toUuid)}::uuid[]) AND status = 'pending'
        `.pipe(Effect.asVoid, mapSql("GenerationStore.queue")),

      start: (starts) =>
        startRows(JSON.stringify(starts.map(({ at, id }) => ({ id: GenerationId.toUuid(id), at: iso(at) })))).pipe(
          Effect.map((rows) => rows.map(({ id }) => GenerationId.fromUuid(id))),
          mapSql("GenerationStore.start")
        ),

      complete: (completions) =>
        sql`
          UPDATE generation_job AS job
          SET status = 'completed', output = done.output, finished_at = done.at, result_expires_at = done.expires_at
          FROM jsonb_to_recordset(${
          JSON.stringify(completions.map(({ at, id, output, resultExpiresAt }) => ({
            id: GenerationId.toUuid(id),
            output,
            at: iso(at),
            expires_at: iso(resultExpiresAt)
          })))
        }::jsonb) AS done (id uuid, output jsonb, at timestamptz, expires_at timestamptz)
          WHERE job.id = done.id AND job.status = 'processing'
        `.pipe(Effect.asVoid, mapSql("GenerationStore.complete")),

      end: (endings) =>
        sql`
          UPDATE generation_job AS job
          SET status = CASE WHEN ending.failure IS NULL THEN 'cancelled' ELSE 'failed' END,
              failure = ending.failure,
              finished_at = ending.at,
              refunded = true
          FROM jsonb_to_recordset(${
          JSON.stringify(endings.map(({ at, failure, id }) => ({ id: GenerationId.toUuid(id), failure, at: iso(at) })))
        }::jsonb) AS ending (id uuid, failure jsonb, at timestamptz)
          WHERE job.id = ending.id AND job.status IN ('pending', 'queued', 'processing')
        `.pipe(Effect.asVoid, mapSql("GenerationStore.end")),

      waiting: (models, limit) =>
        waitingRows({ models, limit }).pipe(
          Effect.map((rows) => rows.map(fromRow)),
          mapSql("GenerationStore.waiting")
        ),

      expired: (now, limit) =>
        expiredRows({ now: DateTime.toDate(now), limit }).pipe(
          Effect.map((rows) => rows.map(fromRow)),
          mapSql("GenerationStore.expired")
        ),

      clearOutput: (ids) =>
        sql`
          UPDATE generation_job SET output = NULL
          WHERE id = ANY(${ids.map(GenerationId.toUuid)}::uuid[]) AND status = 'completed'
        `.pipe(Effect.asVoid, mapSql("GenerationStore.clearOutput"))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Row = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  model: Schema.String,
  kind: Kind,
  mode: Mode,
  plan: Plan,
  status: Status,
  prompt: Schema.String,
  params: Params,
  cost_credits: Schema.NullOr(Schema.NumberFromString),
  quota_kind: Schema.NullOr(Kind),
  refunded: Schema.Boolean,
  failure: Schema.NullOr(Failure),
  output: Schema.NullOr(Output),
  result_expires_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date,
  started_at: Schema.NullOr(Schema.Date),
  finished_at: Schema.NullOr(Schema.Date)
})

const fromRow = (row: typeof Row.Type): Generation => ({
  id: GenerationId.fromUuid(row.id),
  account: row.account,
  model: row.model,
  kind: row.kind,
  mode: row.mode,
  plan: row.plan,
  status: row.status,
  prompt: row.prompt,
  params: row.params,
  costCredits: row.cost_credits,
  quotaKind: row.quota_kind,
  refunded: row.refunded,
  failure: row.failure,
  output: row.output,
  resultExpiresAt: utcOrNull(row.result_expires_at),
  createdAt: DateTime.fromDateUnsafe(row.created_at),
  startedAt: utcOrNull(row.started_at),
  finishedAt: utcOrNull(row.finished_at)
})

const toInsert = (generation: Generation) => ({
  id: GenerationId.toUuid(generation.id),
  account: generation.account,
  model: generation.model,
  kind: generation.kind,
  mode: generation.mode,
  plan: generation.plan,
  status: generation.status,
  prompt: generation.prompt,
  params: generation.params,
  cost_credits: generation.costCredits,
  quota_kind: generation.quotaKind,
  refunded: generation.refunded,
  created_at: iso(generation.createdAt)
})

const iso = (at: DateTime.Utc) => DateTime.formatIso(at)

const utcOrNull = (date: Date | null) => date === null ? null : DateTime.fromDateUnsafe(date)
