/** The upstreams of a worker process, and which of them a model uses. */
import { Catalog } from "@kinora/catalog/Catalog"
import type { Model } from "@kinora/catalog/Model"
import { Generators } from "@kinora/generator/Generators"
import type { JobHandler } from "@kinora/scheduler"
import { Array, Effect, Option, type Scope } from "effect"
import * as Upstream from "./upstream.ts"

/** An upstream that a model can use, with the options of the model for it. */
export interface Route {
  readonly upstream: Upstream.Upstream
  readonly options: Model["driver"]["options"]
}

/** A model and its upstreams, in the order in which they are used. */
export interface Source {
  readonly model: Model
  readonly routes: Array.NonEmptyReadonlyArray<Route>
}

/** A pool of jobs, which has the name of its model or an alias of it. */
interface SourcePool {
  readonly pool: string
  readonly source: Source
}

/** The upstreams of a worker process. */
export interface Upstreams {
  /** The upstreams of all drivers. */
  readonly all: ReadonlyArray<Upstream.Upstream>
  /** Returns the upstream with this name, also one that no model uses any more. */
  readonly find: (name: string) => Upstream.Upstream | undefined
  /** Counts a job that was claimed, until the scope closes. Without a source, counts nothing. */
  readonly expect: (source: Option.Option<Source>) => Effect.Effect<Upstream.Expected, never, Scope.Scope>
  /** Returns the limits on claims of the jobs in these pools. */
  readonly limitsOf: (pools: ReadonlyArray<SourcePool>) => ReadonlyArray<JobHandler.PoolLimit>
}

/** Makes a function that finds the source of a model's jobs. Returns `None` if this process cannot run the model. */
export const makeSourceOf = Effect.fnUntraced(function*({ find }: Pick<Upstreams, "find">) {
  const catalog = yield* Catalog
  return (id: string): Option.Option<Source> =>
    Option.gen(function*() {
      const model = yield* catalog.find(id)
      const { driver } = model
      const primary = yield* Option.fromUndefinedOr(find(driver.name))
      const fallbacks = driver.fallbacks.flatMap(({ name, options }) => {
        const upstream = find(name)
        return upstream === undefined ? [] : [{ upstream, options }]
      })
      return { model, routes: [{ upstream: primary, options: driver.options }, ...fallbacks] as const }
    })
})

/** Makes the upstreams of all drivers of this process. */
export const makeUpstreams = Effect.gen(function*() {
  const generators = yield* Generators
  const all = yield* Effect.forEach(
    generators.names.flatMap((name) =>
      Option.toArray(generators.get(name)).map((generator) => ({ name, generator, limits: generators.limits(name) }))
    ),
    Upstream.make
  )
  const byName = new Map(all.map((upstream) => [upstream.name, upstream]))
  /** Number of jobs that this process runs, by model. */
  const running = new Map<string, number>()
  const count = (model: string, change: number) =>
    Effect.sync(() => running.set(model, (running.get(model) ?? 0) + change))

  const upstreams: Upstreams = {
    all,
    find: (name) => byName.get(name),
    expect: Effect.fnUntraced(function*(source) {
      if (Option.isNone(source)) return { decided: () => undefined }
      const { model, routes } = source.value
      yield* Effect.acquireRelease(count(model.id, 1), () => count(model.id, -1))
      return yield* (yield* nextOf(routes)).expect
    }),
    limitsOf: (pools) =>
      Object.values(Array.groupBy(pools, ({ source }) => groupOf(source))).map((group) => {
        const { model, routes } = group[0].source
        const { concurrency = Infinity } = model.driver
        return {
          pools: group.map(({ pool }) => pool),
          room: Effect.gen(function*() {
            const room = yield* (yield* nextOf(routes)).room
            return concurrency === Infinity ? room : Math.min(room, concurrency - (running.get(model.id) ?? 0))
          })
        }
      })
  }
  return upstreams
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the upstream that gets the next job: the first one that works, or else the first. */
const nextOf = Effect.fnUntraced(function*(routes: Source["routes"]) {
  for (const { upstream } of routes) {
    if (!(yield* upstream.isOpen)) return upstream
  }
  return routes[0].upstream
})

/** Models without a limit of their own share the limits of their upstreams, so their jobs are claimed together. */
const groupOf = ({ model, routes }: Source): string =>
  model.driver.concurrency === undefined
    ? `upstreams ${routes.map(({ upstream }) => upstream.name).join(" ")}`
    : `model ${model.id}`
