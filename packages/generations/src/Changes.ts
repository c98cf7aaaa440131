/**
 * Wakes those who wait for a generation to change. A hint only: who waits reads the
 * generation again, and also does so from time to time without a hint.
 */
import { Context, Effect, Latch, Layer, type Scope } from "effect"
import type { GenerationId } from "./Generation.ts"

/** Tells the waiting fibers of this process that generations changed. */
export class Changes extends Context.Service<Changes, {
  /** Wakes who waits for these generations, here and, if the host connects them, in other processes. */
  readonly publish: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>

  /** Wakes who waits in this process. For what another process published. */
  readonly receive: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>

  /**
   * Watches a generation for as long as the scope lives. The effect given back
   * returns when the generation changed since it returned last, or since `watch`;
   * with `false` when waiting has ended.
   */
  readonly watch: (id: GenerationId) => Effect.Effect<Effect.Effect<boolean>, never, Scope.Scope>

  /** Ends all waiting, for a process that stops: nobody is kept until his time is over (D51). */
  readonly end: Effect.Effect<void>
}>()("@kinora/generations/Changes") {}

/** How processes hear of each other's changes. */
export interface ChangesOptions {
  /** Passes changes on to other processes. It must not wait for them. Default: nobody else. */
  readonly broadcast?: ((ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>) | undefined
}

export const layerWith = (options: ChangesOptions): Layer.Layer<Changes> =>
  Layer.sync(Changes, () => {
    const watchers = new Map<GenerationId, Set<Latch.Latch>>()
    let isEnded = false

    const receive = (ids: ReadonlyArray<GenerationId>) =>
      Effect.sync(() => {
        for (const id of ids) watchers.get(id)?.forEach((latch) => latch.openUnsafe())
      })

    const add = (id: GenerationId) =>
      Effect.sync(() => {
        const latch = Latch.makeUnsafe(isEnded)
        const latches = watchers.get(id) ?? new Set()
        watchers.set(id, latches.add(latch))
        return latch
      })

    const remove = (id: GenerationId, latch: Latch.Latch) =>
      Effect.sync(() => {
        const latches = watchers.get(id)
        latches?.delete(latch)
        if (latches?.size === 0) watchers.delete(id)
      })

    return Changes.of({
      publish: (ids) =>
        options.broadcast === undefined ? receive(ids) : Effect.andThen(receive(ids), options.broadcast(ids)),
      receive,
      watch: (id) =>
        Effect.acquireRelease(add(id), (latch) => remove(id, latch)).pipe(
          // Closed before the caller reads, so that a change after its read opens it again.
          Effect.map((latch) =>
            Effect.andThen(
              latch.await,
              Effect.suspend(() => isEnded ? Effect.succeed(false) : Effect.as(latch.close, true))
            )
          )
        ),
      end: Effect.sync(() => {
        isEnded = true
        for (const latches of watchers.values()) latches.forEach((latch) => latch.openUnsafe())
      })
    })
  })

/** For a single process. */
export const layer: Layer.Layer<Changes> = layerWith({})
