/**
 * The jobs and the workers of each model, as metrics and as a warning for operators if
 * jobs wait for a model that no worker runs.
 */
import { Catalog } from "@kinora/catalog/Catalog"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { Combiner, DateTime, type Duration, Effect, Layer, Option } from "effect"
import { modelOf } from "./internal/jobAddress.ts"
import * as Metrics from "./internal/queueMetrics.ts"

export type { ModelQueue } from "./internal/queueMetrics.ts"

/**
 * Returns the models of the catalog, and all others that have a job or a worker, sorted
 * by id. Jobs under an alias of a model count as its jobs.
 */
export const read: Effect.Effect<ReadonlyArray<Metrics.ModelQueue>, StorageError, Catalog | Scheduler> = Effect.gen(
  function*() {
    const catalog = yield* Catalog
    const scheduler = yield* Scheduler
    const found = new Map<string, Metrics.ModelQueue>(catalog.list.map(({ id }) => [id, { ...empty, model: id }]))
    for (const { kind, oldest, pending, queued, running, workers } of yield* scheduler.queues) {
      const pool = modelOf(kind)
      const model = Option.match(catalog.find(pool), { onNone: () => pool, onSome: ({ id }) => id })
      const queue = { model, pending, queued, processing: running, oldest, workers }
      if (model !== "" || pending + queued + running > 0) found.set(model, merged(found.get(model), queue))
    }
    return Array.from(found.values()).toSorted((a, b) => a.model < b.model ? -1 : 1)
  }
)

/** Options for `layerMonitor`. */
export interface MonitorOptions {
  /** Time between two observations, each of which reads all jobs that have not ended. Default 15 seconds. */
  readonly interval?: Duration.Input | undefined
}

/**
 * Observes the queues while the layer lives: updates the metrics `kinora_queue_*`, and logs
 * a warning when jobs wait in two successive observations for a model that no worker runs.
 * Any number of hosts may run it.
 */
export const layerMonitor = (
  { interval = "15 seconds" }: MonitorOptions = {}
): Layer.Layer<never, never, Catalog | Scheduler> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const observe = yield* makeObserve
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(observe, Effect.sleep(interval))))
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const empty = { pending: 0, queued: 0, processing: 0, oldest: Option.none(), workers: 0 }

const earliest = Option.makeReducer(Combiner.make<DateTime.Utc>(DateTime.min))

/** Adds the jobs of two pools of a model. Its workers claim from both. */
const merged = (one: Metrics.ModelQueue | undefined, other: Metrics.ModelQueue): Metrics.ModelQueue =>
  one === undefined ? other : {
    model: one.model,
    pending: one.pending + other.pending,
    queued: one.queued + other.queued,
    processing: one.processing + other.processing,
    oldest: earliest.combine(one.oldest, other.oldest),
    workers: Math.max(one.workers, other.workers)
  }

const makeObserve = Effect.gen(function*() {
  const catalog = yield* Catalog
  const scheduler = yield* Scheduler
  const observed = new Set<string>()
  // Models without a worker in the last observation: a worker that starts at the same moment is not missing.
  let before: ReadonlyArray<string> = []
  let logged = ""

  return Effect.gen(function*() {
    const queues = yield* read
    const now = yield* DateTime.now
    for (const queue of queues) observed.add(queue.model)
    const left = Array.from(observed).filter((id) => queues.every(({ model }) => model !== id))
    yield* Effect.forEach(
      [...queues, ...left.map((model) => ({ ...empty, model }))],
      (queue) => Metrics.observe(queue, now),
      { discard: true }
    )

    const missing = queues.filter(isWithoutWorker).map(({ model }) => model)
    const models = missing.filter((model) => before.includes(model))
    before = missing
    if (String(models) === logged) return
    logged = String(models)
    yield* models.length > 0
      ? Effect.logWarning("Jobs wait for models that no worker runs", { models })
      : Effect.logInfo("All models with waiting jobs have workers again")
  }).pipe(
    Effect.provideService(Catalog, catalog),
    Effect.provideService(Scheduler, scheduler),
    Effect.catchCause((cause) => Effect.logWarning("Observing the queues failed", cause))
  )
})

/** Jobs of versions without pools are left to workers of those versions, which do not announce themselves. */
const isWithoutWorker = ({ model, pending, queued, workers }: Metrics.ModelQueue) =>
  model !== "" && workers === 0 && pending + queued > 0
