/** Jobs in the operator API on the wire. */
import type { Generation } from "@kinora/generations/Generation"
import type { AdminGeneration } from "@kinora/http-api/AdminGeneration"

/** Converts a job to its form for operators. */
export const toWire = (generation: Generation): AdminGeneration => ({
  id: generation.id,
  account: generation.account,
  model: generation.model,
  kind: generation.kind,
  mode: generation.mode,
  plan: generation.plan,
  status: generation.status,
  prompt: generation.prompt,
  cost_credits: generation.costCredits,
  quota_kind: generation.quotaKind,
  refunded: generation.refunded,
  error: generation.failure,
  result_expires_at: generation.resultExpiresAt,
  created_at: generation.createdAt,
  started_at: generation.startedAt,
  finished_at: generation.finishedAt
})
