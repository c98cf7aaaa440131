/** Metrics of the queues of models. */
import { type DateTime, Effect, Metric, Option } from "effect"

/** The jobs of a model that have not ended, and the workers that run the model. */
export interface ModelQueue {
  /** Id of the model. Empty for jobs of versions without pools, which all workers claim. */
  readonly model: string
  readonly pending: number
  readonly queued: number
  readonly processing: number
  /** When the oldest queued job was enqueued. `None` if no job is queued. */
  readonly oldest: Option.Option<DateTime.Utc>
  /** Workers that claim jobs of the model. */
  readonly workers: number
}

/** Sets the metrics of a model. */
export const observe = ({ model, oldest, pending, processing, queued, workers }: ModelQueue, now: DateTime.Utc) =>
  Effect.all([
    Metric.update(jobsOf(model, "pending"), pending),
    Metric.update(jobsOf(model, "queued"), queued),
    Metric.update(jobsOf(model, "processing"), processing),
    Metric.update(oldestOf(model), Option.match(oldest, { onNone: () => 0, onSome: (time) => secondsTo(now, time) })),
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

const secondsTo = (now: DateTime.Utc, time: DateTime.Utc) =>
  Math.max(0, now.epochMilliseconds - time.epochMilliseconds) / 1000
