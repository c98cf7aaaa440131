/**
 * The jobs and the workers of each model, for operators, as metrics, and as a warning if
 * jobs wait for a model that no worker runs.
 */
import { Catalog } from "@kinora/catalog/Catalog"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { Combiner, type DateTime, Duration, Effect, Layer, Option } from "effect"
import type { Plan } from "./Generation.ts"
import { modelOf, planOf } from "./internal/jobAddress.ts"
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
    for (const { kind, oldestWait, pending, queued, running, workers } of yield* scheduler.queues) {
      const pool = modelOf(kind)
      const model = Option.match(catalog.find(pool), { onNone: () => pool, onSome: ({ id }) => id })
      const queue = { model, pending, queued, processing: running, oldestWait, workers }
      if (model !== "" || pending + queued + running > 0) found.set(model, merged(found.get(model), queue))
    }
    return Array.from(found.values()).toSorted((a, b) => a.model < b.model ? -1 : 1)
  }
)

/** A worker whose lease holds. */
export interface QueueWorker {
  readonly id: string
  readonly name: string
  readonly isDraining: boolean
  /** Ids of the models that it claims, sorted. Aliases count as their models. */
  readonly models: ReadonlyArray<string>
  /** Maximum number of jobs that it runs at the same time. */
  readonly slots: number
  readonly running: number
  /** `None` for a worker of a version that does not record it. */
  readonly startedAt: Option.Option<DateTime.Utc>
  /** End of its lease, unless it renews it. */
  readonly until: DateTime.Utc
}

/** Selects a page of workers or lanes. */
export interface QueuePage {
  /** `next` of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Returns a page of the workers whose lease holds, by id. */
export const workers: (
  page: QueuePage
) => Effect.Effect<
  { readonly workers: ReadonlyArray<QueueWorker>; readonly next: string | null },
  StorageError,
  Catalog | Scheduler
> = Effect.fnUntraced(function*({ after, limit }) {
  const catalog = yield* Catalog
  const scheduler = yield* Scheduler
  const found = yield* scheduler.workers({ after, limit: limit + 1 })
  const page = found.slice(0, limit).map(({ kinds, worker: name, ...worker }) => ({
    ...worker,
    name,
    models: modelsOf(catalog, kinds)
  }))
  return { workers: page, next: nextOf(found, limit, ({ id }) => id) }
})

/** The jobs of an account in a plan group that have not ended. */
export interface QueueLane {
  readonly account: string
  readonly plan: Plan
  /** Maximum number of queued and running jobs. */
  readonly slots: number
  readonly pending: number
  readonly queued: number
  readonly processing: number
}

/** Returns a page of the lanes with jobs, of all accounts or of one, by account and plan group. */
export const lanes: (
  selection: QueuePage & { readonly account?: string | undefined }
) => Effect.Effect<
  { readonly lanes: ReadonlyArray<QueueLane>; readonly next: string | null },
  StorageError,
  Scheduler
> = Effect.fnUntraced(function*({ account, after, limit }) {
  const scheduler = yield* Scheduler
  const found = yield* scheduler.lanes({ group: account, after, limit: limit + 1 })
  const page = found.slice(0, limit).flatMap(({ cap, group, pending, queued, running, ...lane }) =>
    // Other packages may have lanes in the same scheduler.
    Option.toArray(planOf({ ...lane, group })).map((plan): QueueLane => ({
      account: group,
      plan,
      slots: cap,
      pending,
      queued,
      processing: running
    }))
  )
  return { lanes: page, next: nextOf(found, limit, ({ lane }) => lane) }
})

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

const modelsOf = (catalog: Catalog["Service"], kinds: ReadonlyArray<string>): ReadonlyArray<string> => {
  const pools = kinds.map(modelOf).filter((pool) => pool !== "")
  const models = pools.map((pool) => Option.match(catalog.find(pool), { onNone: () => pool, onSome: ({ id }) => id }))
  return Array.from(new Set(models)).toSorted()
}

/** The position after a page, of which one item more was read; `null` if it is the last one. */
const nextOf = <A>(found: ReadonlyArray<A>, limit: number, positionOf: (item: A) => string): string | null => {
  const last = found[limit - 1]
  return found.length > limit && last !== undefined ? positionOf(last) : null
}

const empty = { pending: 0, queued: 0, processing: 0, oldestWait: Option.none(), workers: 0 }

const longest = Option.makeReducer(Combiner.make<Duration.Duration>(Duration.max))

/** Adds the jobs of two pools of a model. Its workers claim from both. */
const merged = (one: Metrics.ModelQueue | undefined, other: Metrics.ModelQueue): Metrics.ModelQueue =>
  one === undefined ? other : {
    model: one.model,
    pending: one.pending + other.pending,
    queued: one.queued + other.queued,
    processing: one.processing + other.processing,
    oldestWait: longest.combine(one.oldestWait, other.oldestWait),
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
    for (const queue of queues) observed.add(queue.model)
    const left = Array.from(observed).filter((id) => queues.every(({ model }) => model !== id))
    yield* Effect.forEach(
      [...queues, ...left.map((model) => ({ ...empty, model }))],
      Metrics.observe,
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
