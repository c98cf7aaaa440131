/** What the workers of this process say of themselves. */
import { Effect, Metric } from "effect"

/** Counts the jobs that a worker can hold at the same time, until the scope closes. */
export const offer = (count: number) =>
  Effect.acquireRelease(Metric.modify(slots, count), () => Metric.modify(slots, -count))

/** Counts a job for as long as a worker holds it. */
export const hold = <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(Metric.modify(running, 1), () => body, () => Metric.modify(running, -1))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const slots = Metric.gauge("kinora_worker_slots", {
  description: "Jobs that this process can run at the same time."
})

const running = Metric.gauge("kinora_worker_jobs_running", {
  description: "Jobs that this process is running."
})
