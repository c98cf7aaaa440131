/** Rows of `generation_job`. */
import { KeyId } from "@kinora/accounts/ApiKey"
import { Rows } from "@kinora/persistence"
import { DateTime, Effect, Option, Schema } from "effect"
import { Failure, Generation, GenerationId, Kind, Output } from "../../Generation.ts"

/** Columns that a statement returns to `decodeGenerations` or `decodeReadable`. */
export const columns = `
  id, account, key_id, model, kind, mode, plan, status, prompt, params, images, cost_credits::text, quota_kind, key_line, watermark,
  refunded, failure, output, result_expires_at, created_at, started_at, finished_at
`

/** Decodes the rows of a statement. Fails if one of them is damaged. */
export const decodeGenerations = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(decodeRows(statement), (rows) => rows.map(fromRow))

/** Decodes the rows of a write one by one. Logs and omits damaged rows, so that the others are still returned. */
export const decodeReadable = <E, R>(statement: Effect.Effect<ReadonlyArray<{ readonly id?: unknown }>, E, R>) =>
  Effect.flatMap(
    statement,
    Effect.fnUntraced(function*(rows) {
      const generations: Array<Generation> = []
      for (const row of rows) {
        const decoded = decodeRow(row)
        if (Option.isSome(decoded)) generations.push(fromRow(decoded.value))
        else yield* Effect.logError("A generation cannot be decoded", row.id)
      }
      return generations
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Fields that the column of the same name holds unchanged. */
const { account, images, kind, mode, model, params, plan, prompt, refunded, status } = Generation.fields

const Row = Schema.Struct({
  id: Schema.String,
  account,
  key_id: Schema.NullOr(Schema.String),
  model,
  kind,
  mode,
  plan,
  status,
  prompt,
  params,
  images,
  cost_credits: Schema.NullOr(Schema.NumberFromString),
  quota_kind: Schema.NullOr(Kind),
  key_line: Schema.NullOr(KeyId.schema),
  watermark: Schema.Boolean,
  refunded,
  failure: Schema.NullOr(Failure),
  output: Schema.NullOr(Output),
  result_expires_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date,
  started_at: Schema.NullOr(Schema.Date),
  finished_at: Schema.NullOr(Schema.Date)
})

const decodeRows = Rows.decodeAll(Row)

const decodeRow = Schema.decodeUnknownOption(Row)

const fromRow = (row: typeof Row.Type): Generation => ({
  id: GenerationId.fromUuid(row.id),
  account: row.account,
  key: row.key_id,
  model: row.model,
  kind: row.kind,
  mode: row.mode,
  plan: row.plan,
  status: row.status,
  prompt: row.prompt,
  params: row.params,
  images: row.images,
  costCredits: row.cost_credits,
  quotaKind: row.quota_kind,
  watermark: row.watermark,
  refunded: row.refunded,
  ...row.key_line === null ? {} : { keyLine: row.key_line },
  failure: row.failure,
  output: row.output,
  resultExpiresAt: utcOrNull(row.result_expires_at),
  createdAt: DateTime.fromDateUnsafe(row.created_at),
  startedAt: utcOrNull(row.started_at),
  finishedAt: utcOrNull(row.finished_at)
})

const utcOrNull = (date: Date | null) => date === null ? null : DateTime.fromDateUnsafe(date)
