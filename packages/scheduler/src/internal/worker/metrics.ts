/** Metrics of the workers of this process. */
import * as MetricPrefix from "@kinora/persistence/MetricPrefix"
import { Effect, Metric } from "effect"

/** Adds the capacity of a worker until the scope closes. */
export const offer = (count: number) =>
  Effect.flatMap(
    slots,
    (slots) => Effect.acquireRelease(Metric.modify(slots, count), () => Metric.modify(slots, -count))
  )

/** Creates a function that adds to the number of running jobs. Not an effect, since each job calls it twice. */
export const makeCountRunning = Effect.gen(function*() {
  const metric = yield* running
  const context = yield* Effect.context()
  return (change: 1 | -1) => metric.modifyUnsafe(change, context)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const slots = MetricPrefix.prefixed((prefix) =>
  Metric.gauge(`${prefix}worker_slots`, { description: "Jobs that this process can run at the same time." })
)

const running = MetricPrefix.prefixed((prefix) =>
  Metric.gauge(`${prefix}worker_jobs_running`, { description: "Jobs that this process is running." })
)
