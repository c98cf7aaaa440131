/**
 * Tells workers that there may be work. In this process a latch opens at once after
 * the commit; other processes are reached through the hooks of `layerWith`, and
 * whatever gets lost on the way is found by the workers' poll.
 */
import { Context, Effect, Latch, Layer, type Scope, Stream } from "effect"

/** Wakes the workers of this process, and of others through hooks. */
export class Wakeup extends Context.Service<Wakeup, {
  /** There may be work. Costs next to nothing when nobody sleeps. */
  readonly wake: Effect.Effect<void>
  /** A latch that every `wake` opens, as long as the scope lives. Its owner closes it before it looks for work. */
  readonly subscribe: Effect.Effect<Latch.Latch, never, Scope.Scope>
}>()("@kinora/scheduler/Wakeup") {}

/** Hooks to other processes. */
export interface WakeupOptions {
  /**
   * Tells other processes. Runs after each commit that queued jobs, before its caller
   * goes on: it should only note that there is something to send, and send once for many.
   */
  readonly publish?: Effect.Effect<void> | undefined
  /** What other processes tell: each element wakes the workers here. Ends only when nothing more will come. */
  readonly subscribe?: Stream.Stream<unknown> | undefined
}

/** A wake-up with hooks to other processes. */
export const layerWith = (options: WakeupOptions): Layer.Layer<Wakeup> =>
  Layer.effect(
    Wakeup,
    Effect.gen(function*() {
      const { publish = Effect.void, subscribe = Stream.empty } = options
      const latches = new Set<Latch.Latch>()
      const wakeHere = Effect.sync(() => {
        for (const latch of latches) latch.openUnsafe()
      })
      yield* Effect.forkScoped(Stream.runForEach(subscribe, () => wakeHere))
      return Wakeup.of({
        wake: Effect.andThen(wakeHere, publish),
        subscribe: Effect.acquireRelease(
          Effect.sync(() => {
            const latch = Latch.makeUnsafe(false)
            latches.add(latch)
            return latch
          }),
          (latch) => Effect.sync(() => latches.delete(latch))
        )
      })
    })
  )

/** A wake-up for this process only. */
export const layer: Layer.Layer<Wakeup> = layerWith({})
