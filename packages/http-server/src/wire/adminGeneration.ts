/** Jobs in the operator API on the wire. */
import type { Generation } from "@kinora/generations/Generation"
import { isFailedByOperator } from "@kinora/generations/Generations"
import type { Attempt } from "@kinora/generations/GenerationStore"
import type { AdminGeneration, AdminGenerationDetail } from "@kinora/http-api/AdminGeneration"
import type { Transaction } from "@kinora/ledger/Transaction"
import type { JobStatus } from "@kinora/scheduler/Job"
import type { Delivery } from "@kinora/webhooks/Delivery"
import type { History } from "@kinora/webhooks/Webhooks"
import { type DateTime, Option } from "effect"
import { deliveryOf } from "./adminWebhook.ts"

/** Converts a job to its form for operators. */
export const toWire = (generation: Generation): AdminGeneration => ({
  id: generation.id,
  account: generation.account,
  key_id: generation.key,
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

/** The records of other packages about a job. */
export interface Records {
  /** Its status in the queue; `undefined` once it has ended. */
  readonly job: JobStatus | undefined
  /** Oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
  readonly bookings: ReadonlyArray<Transaction>
  readonly history: History
}

/** Converts a job and its records to its form for operators. */
export const detailOf = (generation: Generation, records: Records): AdminGenerationDetail => ({
  ...toWire(generation),
  run: records.job === undefined ? null : runOf(records.job),
  timeline: timelineOf(generation, records),
  deliveries: records.history.deliveries.map(deliveryOf)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Step = AdminGenerationDetail["timeline"][number]

/** States of the API by those of the queue. Generations are not delayed. */
const states = { delayed: "pending", pending: "pending", queued: "queued", running: "processing" } as const

const runOf = ({ attempt, state, worker }: JobStatus) => ({
  state: states[state],
  attempt,
  worker: Option.getOrNull(worker)
})

/** Steps at the same time stay in this order. */
const timelineOf = (generation: Generation, { attempts, bookings, history }: Records): ReadonlyArray<Step> => {
  const booked = (kind: Transaction["kind"], step: Step["step"]) =>
    bookings.filter((booking) => booking.kind === kind).map(({ amount, at }) => ({ ...empty, at, step, amount }))
  return [
    ...stepAt(generation.createdAt, "created"),
    ...booked("charge", "charged"),
    ...attemptsOf(generation, attempts),
    ...stepAt(generation.finishedAt, finalStepOf(generation)),
    ...booked("refund", "refunded"),
    ...publishedOf(history),
    ...sentOf(history)
  ].toSorted((a, b) => a.at.epochMilliseconds - b.at.epochMilliseconds)
}

const stepAt = (at: DateTime.Utc | null, step: Step["step"] | undefined): ReadonlyArray<Step> =>
  at === null || step === undefined ? [] : [{ ...empty, at, step }]

const empty = { amount: null, attempt: null, webhook: null }

/** The starts of attempts, and the ends of those that did not end the job. */
const attemptsOf = ({ startedAt }: Generation, attempts: ReadonlyArray<Attempt>): ReadonlyArray<Step> => {
  const [first] = attempts
  const isFirstKept = first !== undefined && startedAt?.epochMilliseconds === first.startedAt.epochMilliseconds
  const steps = attempts.flatMap(({ attempt: number, end, endedAt, startedAt, worker }): ReadonlyArray<Step> => {
    const attempt = { number, worker }
    const started: Step = { ...empty, at: startedAt, step: "started", attempt }
    return end === null || endedAt === null ? [started] : [started, { ...empty, at: endedAt, step: end, attempt }]
  })
  return isFirstKept ? steps : [...stepAt(startedAt, "started"), ...steps]
}

/** The events, of which each has a delivery per endpoint. */
const publishedOf = ({ deliveries }: History): ReadonlyArray<Step> => {
  const events = new Map(deliveries.toReversed().map((delivery) => [delivery.event, delivery]))
  return Array.from(events.values(), (delivery) => ({
    at: delivery.createdAt,
    step: "event_published" as const,
    amount: null,
    attempt: null,
    webhook: {
      ...eventOf(delivery),
      endpoint_id: null,
      delivery_id: null,
      attempt: null,
      http_status: null,
      reason: null
    }
  }))
}

const sentOf = ({ deliveries, sends }: History): ReadonlyArray<Step> =>
  deliveries.flatMap((delivery) =>
    sends.filter((send) => send.delivery === delivery.id).map(({ at, attempt, httpStatus, reason }) => ({
      at,
      step: "event_sent" as const,
      amount: null,
      attempt: null,
      webhook: {
        ...eventOf(delivery),
        endpoint_id: delivery.endpoint,
        delivery_id: delivery.id,
        attempt,
        http_status: httpStatus,
        reason
      }
    }))
  ).toReversed()

const eventOf = ({ event, type }: Delivery) => ({ event_id: event, type })

const finalStepOf = (generation: Generation): Step["step"] | undefined => {
  const { status } = generation
  if (isFailedByOperator(generation)) return "failed_by_operator"
  return status === "completed" || status === "failed" || status === "cancelled" ? status : undefined
}
