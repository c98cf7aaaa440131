/** Metrics of generations. Each event is counted once, after the unit of work that caused it commits. */
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { type DateTime, Effect, Metric } from "effect"
import type { Generation } from "../Generation.ts"
import { subjectOf } from "./jobAddress.ts"

/** Counts created generations. */
export const created = (generations: Iterable<Generation>): Effect.Effect<void> =>
  Effect.forEach(generations, ({ kind, plan }) => Metric.update(createdOf({ plan, kind }), 1), { discard: true })

/**
 * Records the wait of generations that start. Call it for the first attempt of a job only. Both times are the database's,
 * since the clock of this host may differ.
 */
export const started = (jobs: ReadonlyArray<ClaimedJob>): Effect.Effect<void> =>
  Effect.forEach(
    jobs,
    (job) => Metric.update(waitOf({ plan: subjectOf(job).plan }), secondsBetween(job.enqueuedAt, job.claimedAt)),
    { discard: true }
  )

/** Counts ended generations, and records their run time if they started. */
export const ended = (generations: ReadonlyArray<Generation>): Effect.Effect<void> =>
  Effect.forEach(generations, ({ finishedAt, kind, plan, startedAt, status }) => {
    const counted = Metric.update(endedOf({ plan, kind, outcome: status }), 1)
    return startedAt === null || finishedAt === null ? counted : Effect.andThen(
      counted,
      Metric.update(runOf({ kind, outcome: status }), secondsBetween(startedAt, finishedAt))
    )
  }, { discard: true })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns one metric per set of labels, created on first use. */
const family = <Labels extends Readonly<Record<string, string>>, A>(make: (attributes: Labels) => A) => {
  const made = new Map<string, A>()
  return (labels: Labels): A => {
    const key = Object.values(labels).join("/")
    const known = made.get(key)
    if (known !== undefined) return known
    const metric = make(labels)
    made.set(key, metric)
    return metric
  }
}

const createdOf = family((attributes: { readonly plan: string; readonly kind: string }) =>
  Metric.counter("kinora_jobs_created_total", {
    description: "Jobs created.",
    attributes,
    incremental: true
  })
)

const endedOf = family((attributes: { readonly plan: string; readonly kind: string; readonly outcome: string }) =>
  Metric.counter("kinora_jobs_ended_total", {
    description: "Jobs ended, by outcome.",
    attributes,
    incremental: true
  })
)

const waitOf = family((attributes: { readonly plan: string }) =>
  Metric.histogram("kinora_job_wait_seconds", {
    description: "Time from the creation of a job to its first start.",
    attributes,
    boundaries: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]
  })
)

const runOf = family((attributes: { readonly kind: string; readonly outcome: string }) =>
  Metric.histogram("kinora_job_run_seconds", {
    description: "Time from the first start of a job to its end.",
    attributes,
    boundaries: [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]
  })
)

const secondsBetween = (from: DateTime.Utc, to: DateTime.Utc): number =>
  Math.max(0, to.epochMilliseconds - from.epochMilliseconds) / 1000
