/** Decides the status of a model from the reports of workers. Pure. */
import * as Model from "@kinora/catalog/Model"
import { DateTime, Option } from "effect"
import type { UpstreamReport } from "../UpstreamReports.ts"
import { modelOf } from "./jobAddress.ts"

/** Status of a model at the moment. */
export interface ModelStatus {
  readonly status: Model.Model["status"]
  /** When the first of the model's upstreams is tested, if the model is paused because they fail; otherwise `None`. */
  readonly retryAt: Option.Option<DateTime.Utc>
}

/** The pauses of operators, the reports of the workers, and the models that they offer. */
export interface Observed {
  /** The ids under which operators have paused models. */
  readonly paused: ReadonlyArray<string>
  readonly reports: ReadonlyArray<UpstreamReport>
  readonly offers: ReadonlyArray<{ readonly id: string; readonly kinds: ReadonlyArray<string> }>
}

/** Returns the status of a model. See `ModelStatuses.current`. */
export const statusOf = (model: Model.Model, { offers, paused, reports }: Observed, now: DateTime.Utc): ModelStatus => {
  const configured = { status: model.status, retryAt: Option.none() }
  if (model.status === "paused" || model.status === "withdrawn") return configured
  const ids = new Set<string>(Model.ids(model))
  if (paused.some((id) => ids.has(id))) return { status: "paused", retryAt: Option.none() }
  if (reports.length === 0) return configured
  const upstreams = [model.driver.name, ...model.driver.fallbacks.map(({ name }) => name)]
  /** For each worker that offers the model, its reports of the model's upstreams. */
  const troubles = offers.filter(({ kinds }) => kinds.some((kind) => ids.has(modelOf(kind)))).map(({ id }) =>
    reports.filter(({ upstream, worker }) => worker === id && upstreams.includes(upstream))
  )
  const all = troubles.flat()
  const [first] = all
  if (first === undefined) return configured
  const isPaused = troubles.every((own) => upstreams.every((name) => own.some(isPausedBy(name))))
  const retryAt = all.map((report) => report.retryAt).reduce(DateTime.min, first.retryAt)
  // A model is not paused while a test is due, since one of its jobs is the test.
  return isPaused && DateTime.isGreaterThan(retryAt, now)
    ? { status: "paused", retryAt: Option.some(retryAt) }
    : { status: "degraded", retryAt: Option.none() }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isPausedBy = (name: string) => ({ status, upstream }: UpstreamReport): boolean =>
  upstream === name && status === "paused"
