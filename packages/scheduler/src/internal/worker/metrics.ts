/** Metrics of the workers of this process. */
import * as MetricPrefix from "@kinora/persistence/MetricPrefix"
import { Effect, Metric } from "effect"

/** Adds the capacity of a worker until the scope closes. */
export const offer = (count: number) =>
  Effect.flatMap(
    slots,
    (slots) => Effect.acquireRelease(Metric.modify(slots, count), () => Metric.modify(slots, -count))
  )

/** Creates a function that counts a job while `body` runs. */
export const makeHold = Effect.map(
  Effect.suspend(() => running),
  (running) => <A, E, R>(body: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(Metric.modify(running, 1), () => body, () => Metric.modify(running, -1))
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const slots = MetricPrefix.prefixed((prefix) =>
  Metric.gauge(`${prefix}worker_slots`, { description: "Jobs that this process can run at the same time." })
)

const running = MetricPrefix.prefixed((prefix) =>
  Metric.gauge(`${prefix}worker_jobs_running`, { description: "Jobs that this process is running." })
)
