/** Generations as rows of `generation_job`, and back. */
import { DateTime, Schema } from "effect"
import {
  Failure,
  type Generation,
  GenerationId,
  InputImage,
  Kind,
  Mode,
  Output,
  Params,
  Plan,
  Status
} from "../../Generation.ts"
import type { Ending, Start } from "../../GenerationStore.ts"

/** What a select of a generation names. */
export const columns = `
  id, account, model, kind, mode, plan, status, prompt, params, images, cost_credits::text, quota_kind, refunded, failure,
  output, result_expires_at, created_at, started_at, finished_at
`

/** A row of `columns`. */
export const Row = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  model: Schema.String,
  kind: Kind,
  mode: Mode,
  plan: Plan,
  status: Status,
  prompt: Schema.String,
  params: Params,
  images: Schema.Array(InputImage),
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

/** The generation of a row. */
export const fromRow = (row: typeof Row.Type): Generation => ({
  id: GenerationId.fromUuid(row.id),
  account: row.account,
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
  refunded: row.refunded,
  failure: row.failure,
  output: row.output,
  resultExpiresAt: utcOrNull(row.result_expires_at),
  createdAt: DateTime.fromDateUnsafe(row.created_at),
  startedAt: utcOrNull(row.started_at),
  finishedAt: utcOrNull(row.finished_at)
})

/** What a new generation's row begins with. */
export const toInsert = (generation: Generation) => ({
  id: GenerationId.toUuid(generation.id),
  account: generation.account,
  model: generation.model,
  kind: generation.kind,
  mode: generation.mode,
  plan: generation.plan,
  status: generation.status,
  prompt: generation.prompt,
  params: generation.params,
  images: generation.images,
  cost_credits: generation.costCredits,
  quota_kind: generation.quotaKind,
  refunded: generation.refunded,
  created_at: DateTime.formatIso(generation.createdAt)
})

/** What a statement is told of a start. */
export const toStart = ({ at, id }: Start) => ({ id: GenerationId.toUuid(id), at: DateTime.formatIso(at) })

/** What a statement is told of an ending. */
export const toEnding = ({ at, failure, id, output, resultExpiresAt, status }: Ending) => ({
  id: GenerationId.toUuid(id),
  status,
  failure,
  output,
  at: DateTime.formatIso(at),
  expires_at: resultExpiresAt === null ? null : DateTime.formatIso(resultExpiresAt)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const utcOrNull = (date: Date | null) => date === null ? null : DateTime.fromDateUnsafe(date)
