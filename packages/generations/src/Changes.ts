/**
 * Notifications that generations changed.
 *
 * A notification is a hint. Waiting calls read the generation again when they get one, and
 * also at intervals, so a lost notification delays them and breaks nothing. The intervals are
 * short while the changes of other processes do not arrive.
 */
import { Context, Effect, Latch, Layer, type Scope } from "effect"
import type { GenerationId } from "./Generation.ts"
import { type ChangedSet, makeFeeds } from "./internal/feeds.ts"
import { makeWatchers } from "./internal/watchers.ts"

export type { ChangedSet } from "./internal/feeds.ts"

/** Wakes fibers that wait for a generation to change. */
export class Changes extends Context.Service<Changes, {
  /** Wakes waiting fibers in this process and, if the host configured `broadcast`, in other processes. */
  readonly publish: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>

  /** Wakes waiting fibers in this process. Call it for changes that another process published. */
  readonly receive: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>

  /**
   * Watches a generation until the scope closes. The returned effect completes with
   * `true` once the generation has changed since `watch` or since its last completion,
   * and with `false` after `end`.
   */
  readonly watch: (id: GenerationId) => Effect.Effect<Effect.Effect<boolean>, never, Scope.Scope>

  /**
   * Watches all generations until the scope closes. The returned effect completes once generations have changed since
   * `watchAll` or since its last completion, and with `undefined` after `end`.
   */
  readonly watchAll: Effect.Effect<Effect.Effect<ChangedSet | undefined>, never, Scope.Scope>

  /**
   * Records whether the changes that other processes publish arrive in this process. If they do, it also completes all watches,
   * since earlier changes were missed. A host that configured `broadcast` calls it when its channel connects, and when the
   * connection is lost.
   */
  readonly setConnected: (isConnected: boolean) => Effect.Effect<void>

  /** Waits until the changes of other processes do not arrive. Completes immediately if they do not arrive now. */
  readonly disconnected: Effect.Effect<void>

  /** Ends all watches. A process that shuts down calls it so that waiting requests return immediately. */
  readonly end: Effect.Effect<void>
}>()("@kinora/generations/Changes") {}

/** Options for `Changes.layerWith`. */
export interface ChangesOptions {
  /** Sends changes to other processes without waiting for them. Default: changes stay in this process. */
  readonly broadcast?: ((ids: ReadonlyArray<GenerationId>) => Effect.Effect<void>) | undefined
  /**
   * Whether the changes of all processes arrive from the start, for example because there is no other process. Default `false`:
   * they do not arrive until `setConnected`.
   */
  readonly isConnected?: boolean | undefined
  /** Maximum number of generations that a watch of all collects until they are taken. Default 10,000. */
  readonly collectedMax?: number | undefined
}

/** Changes with these options. */
export const layerWith = (options: ChangesOptions): Layer.Layer<Changes> =>
  Layer.sync(Changes, () => {
    const { broadcast, collectedMax = 10_000, isConnected = false } = options
    const feeds = makeFeeds(collectedMax)
    const { openAll, openOf, watch } = makeWatchers()
    const disconnected = Latch.makeUnsafe(!isConnected)
    let isEnded = false
    const receive = (ids: ReadonlyArray<GenerationId>) =>
      Effect.sync(() => {
        ids.forEach(openOf)
        feeds.add(ids)
      })

    return Changes.of({
      publish: (ids) => broadcast === undefined ? receive(ids) : Effect.andThen(receive(ids), broadcast(ids)),
      receive,
      watch: (id) =>
        // The latch closes before the caller reads the generation, so a change after that read opens it again.
        Effect.map(watch(id, () => isEnded), (latch) =>
          Effect.andThen(
            latch.await,
            Effect.suspend(() => isEnded ? Effect.succeed(false) : Effect.as(latch.close, true))
          )),
      watchAll: feeds.watch,
      setConnected: (isConnected) =>
        Effect.sync(() => {
          if (!isConnected) return void disconnected.openUnsafe()
          disconnected.closeUnsafe()
          openAll()
          feeds.miss()
        }),
      disconnected: disconnected.await,
      end: Effect.sync(() => {
        isEnded = true
        openAll()
        feeds.end()
      })
    })
  })

/** Changes for a single process. */
export const layer: Layer.Layer<Changes> = layerWith({ isConnected: true })
