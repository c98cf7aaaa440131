/** Jobs in the operator API on the wire. */
import type { Generation } from "@kinora/generations/Generation"
import type { AdminGeneration, AdminGenerationDetail } from "@kinora/http-api/AdminGeneration"
import type { Transaction } from "@kinora/ledger/Transaction"
import type { JobStatus } from "@kinora/scheduler/Job"
import { type DateTime, Option } from "effect"

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

/** Converts a job, its status in the queue and its bookings to its form for operators. */
export const detailOf = (
  generation: Generation,
  job: JobStatus | undefined,
  bookings: ReadonlyArray<Transaction>
): AdminGenerationDetail => ({
  ...toWire(generation),
  run: job === undefined ? null : runOf(job),
  timeline: timelineOf(generation, bookings)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Step = AdminGenerationDetail["timeline"][number]

const runOf = ({ attempt, state, worker }: JobStatus) => ({
  state: state === "running" ? "processing" as const : state,
  attempt,
  worker: Option.getOrNull(worker)
})

const timelineOf = (generation: Generation, bookings: ReadonlyArray<Transaction>): ReadonlyArray<Step> => {
  const booked = (kind: Transaction["kind"], step: Step["step"]) =>
    bookings.filter((booking) => booking.kind === kind).map(({ amount, at }) => ({ at, step, amount }))
  return [
    ...stepAt(generation.createdAt, "created"),
    ...booked("charge", "charged"),
    ...stepAt(generation.startedAt, "started"),
    ...stepAt(generation.finishedAt, finalStepOf(generation)),
    ...booked("refund", "refunded")
  ].toSorted((a, b) => a.at.epochMilliseconds - b.at.epochMilliseconds)
}

const stepAt = (at: DateTime.Utc | null, step: Step["step"] | undefined): ReadonlyArray<Step> =>
  at === null || step === undefined ? [] : [{ at, step, amount: null }]

const finalStepOf = ({ status }: Generation): Step["step"] | undefined =>
  status === "completed" || status === "failed" || status === "cancelled" ? status : undefined
