/**
 * Callbacks of upstreams: an upstream calls a URL when a job may have ended there.
 *
 * A callback is a hint. It only wakes the worker that polls the job, so a forged, repeated, early
 * or late callback changes no job, and a lost one delays a job until the next poll.
 */
import { Context, Effect, type Latch, Layer, type Scope } from "effect"
import type { GenerationId } from "./Generation.ts"
import { makeWatchers } from "./internal/watchers.ts"

/** Wakes fibers that poll the upstream of a generation. */
export class Callbacks extends Context.Service<Callbacks, {
  /** Wakes the polls in this process and, if the host configured `broadcast`, in other processes. */
  readonly publish: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>

  /** Wakes the polls in this process. Call it for callbacks that another process published. */
  readonly receive: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>

  /** Creates a latch that callbacks for the generation open until the scope closes. The worker closes it before each poll. */
  readonly watch: (id: GenerationId) => Effect.Effect<Latch.Latch, never, Scope.Scope>
}>()("@kinora/generations/Callbacks") {}

/** Options for `Callbacks.layerWith`. */
export interface CallbacksOptions {
  /** Sends callbacks to other processes without waiting for them. Default: callbacks stay in this process. */
  readonly broadcast?: ((ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>) | undefined
}

/** Callbacks with these options. */
export const layerWith = ({ broadcast }: CallbacksOptions): Layer.Layer<Callbacks> =>
  Layer.sync(Callbacks, () => {
    const { openOf, watch } = makeWatchers()
    const receive = (ids: ReadonlyArray<GenerationId>) => Effect.sync(() => ids.forEach(openOf))
    return Callbacks.of({
      publish: (ids) => broadcast === undefined ? receive(ids) : Effect.andThen(receive(ids), broadcast(ids)),
      receive,
      watch: (id) => watch(id, () => false)
    })
  })

/** Callbacks for a single process. */
export const layer: Layer.Layer<Callbacks> = layerWith({})

/** The route of callbacks. Requests are `POST`. */
export const route = "/internal/callbacks/:id"

/** Returns the path of the callbacks for a generation, which a `UrlSigner` signs. */
export const pathOf = (id: GenerationId): string => route.replace(":id", id)
