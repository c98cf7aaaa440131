/** Metrics of the queues of models. */
import { Duration, Effect, Metric, Option } from "effect"

/** The jobs of a model that have not ended, and the workers that run the model. */
export interface ModelQueue {
  /** Id of the model. Empty for jobs of versions without pools, which all workers claim. */
  readonly model: string
  readonly pending: number
  readonly queued: number
  readonly processing: number
  /** How long ago the oldest queued job was enqueued, by the clock of the database. `None` if no job is queued. */
  readonly oldestWait: Option.Option<Duration.Duration>
  /** Workers that claim jobs of the model. */
  readonly workers: number
}

/** Sets the metrics of a model. */
export const observe = ({ model, oldestWait, pending, processing, queued, workers }: ModelQueue) =>
  Effect.all([
    Metric.update(jobsOf(model, "pending"), pending),
    Metric.update(jobsOf(model, "queued"), queued),
    Metric.update(jobsOf(model, "processing"), processing),
    Metric.update(oldestOf(model), Option.match(oldestWait, { onNone: () => 0, onSome: Duration.toSeconds })),
    Metric.update(workersOf(model), workers)
  ], { discard: true })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const jobsOf = (model: string, state: "pending" | "queued" | "processing") =>
  Metric.gauge("kinora_queue_jobs", {
    description: "Jobs of the service that have not ended.",
    attributes: { state, model }
  })

const oldestOf = (model: string) =>
  Metric.gauge("kinora_queue_oldest_seconds", {
    description: "Time since the oldest queued job was created; 0 if no job is queued.",
    attributes: { model }
  })

const workersOf = (model: string) =>
  Metric.gauge("kinora_queue_workers", {
    description: "Workers of the service that run the model.",
    attributes: { model }
  })
