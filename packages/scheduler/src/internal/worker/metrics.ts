/** Metrics of the workers of this process. */
import { Effect, Metric } from "effect"

/** Adds the capacity of a worker until the scope closes. */
export const offer = (count: number) =>
  Effect.acquireRelease(Metric.modify(slots, count), () => Metric.modify(slots, -count))

/** Counts a job while `body` runs. */
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
