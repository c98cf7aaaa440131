/** The upstreams of a worker process, and which of them a model uses. */
import { Catalog } from "@kinora/catalog/Catalog"
import type { Model } from "@kinora/catalog/Model"
import { Generators } from "@kinora/generator/Generators"
import type { JobHandler } from "@kinora/scheduler"
import { Array, Effect, Option, Random, type Scope } from "effect"
import { type JobPlaces, makeJobPlaces } from "./jobPlaces.ts"
import * as Upstream from "./upstream.ts"

/** An upstream that a model can use, with the options of the model for it. */
export interface Route {
  readonly upstream: Upstream.Upstream
  readonly options: Model["driver"]["options"]
}

/** A model and its upstreams, in the order in which they are used. */
export interface Source {
  readonly model: Model
  /** The places of the model's jobs, if it has a limit of its own. */
  readonly places: JobPlaces | undefined
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
  /**
   * Returns the name of the upstream that continues a job of this upstream and account: the same, or else one with
   * the same credential. If there is none, returns a name that no upstream has.
   */
  readonly successorOf: (name: string, credential: string | undefined) => string
  /** Returns the places of a model. `undefined`: it has no limit of its own. */
  readonly placesOf: (model: Model) => JobPlaces | undefined
  /** Counts a job that was claimed, until the scope closes. Without a source, counts nothing. */
  readonly expect: (source: Option.Option<Source>) => Effect.Effect<Upstream.Expected, never, Scope.Scope>
  /** Returns the limits on claims of the jobs in these pools. */
  readonly limitsOf: (pools: ReadonlyArray<SourcePool>) => NonNullable<Parameters<typeof JobHandler.make>[0]["limits"]>
}

/** Makes a function that finds the source of a model's jobs. Returns `None` if this process cannot run the model. */
export const makeSourceOf = Effect.fnUntraced(function*({ find, placesOf }: Pick<Upstreams, "find" | "placesOf">) {
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
      return {
        model,
        places: placesOf(model),
        routes: [{ upstream: primary, options: driver.options }, ...fallbacks] as const
      }
    })
})

/** Makes the upstreams of all drivers of this process. */
export const makeUpstreams = Effect.gen(function*() {
  const catalog = yield* Catalog
  const generators = yield* Generators
  const process = String(yield* Random.nextInt)
  const all = yield* Effect.forEach(
    generators.names.flatMap((name) =>
      Option.toArray(generators.get(name)).map((generator) => ({
        name,
        generator,
        limits: generators.limits(name),
        process
      }))
    ),
    Upstream.make
  )
  const byName = new Map(all.map((upstream) => [upstream.name, upstream]))
  const placesByModel = new Map<string, JobPlaces>()
  for (const { driver: { concurrency, name }, id } of [...catalog.list, ...catalog.withdrawn]) {
    if (concurrency === undefined) continue
    const owner = generators.limits(name).per_worker === true ? `${id}/${process}` : id
    placesByModel.set(id, yield* makeJobPlaces({ key: `model-jobs/${owner}`, max: concurrency }))
  }

  const upstreams: Upstreams = {
    all,
    find: (name) => byName.get(name),
    successorOf: (name, credential) => {
      const same = byName.get(name)
      if (credential === undefined || (same !== undefined && (same.credential ?? credential) === credential)) {
        return name
      }
      return all.find((other) => other.credential === credential)?.name ?? `${name} with the credential ${credential}`
    },
    placesOf: ({ id }) => placesByModel.get(id),
    expect: Effect.fnUntraced(function*(source) {
      if (Option.isNone(source)) return { decided: () => undefined }
      const { places, routes } = source.value
      if (places !== undefined) yield* places.expect
      return yield* (yield* nextOf(routes)).expect
    }),
    limitsOf: (pools) =>
      Object.values(Array.groupBy(pools, ({ source }) => groupOf(source))).map((group) => {
        const { places, routes } = group[0].source
        return {
          pools: group.map(({ pool }) => pool),
          room: Effect.gen(function*() {
            const room = yield* (yield* nextOf(routes)).room
            return places === undefined || room === 0 ? room : Math.max(0, Math.min(room, yield* places.left))
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
