/**
 * Tells delivery workers that there may be something to send. Whatever gets lost on
 * the way is found by the workers' poll.
 */
import { Context, Effect, Latch, Layer, type Scope, Stream } from "effect"

/** Wakes the delivery workers of this process, and of others through hooks. */
export class Wakeup extends Context.Service<Wakeup, {
  /** There may be something to send. */
  readonly wake: Effect.Effect<void>
  /** A latch that every `wake` opens, as long as the scope lives. Its owner closes it before it looks. */
  readonly subscribe: Effect.Effect<Latch.Latch, never, Scope.Scope>
}>()("@kinora/webhooks/Wakeup") {}

/** Hooks to other processes. */
export interface WakeupOptions {
  /** Tells other processes. Runs after each commit that published events; it should only note that there is something to send. */
  readonly publish?: Effect.Effect<void> | undefined
  /** What other processes tell: each element wakes the workers here. */
  readonly subscribe?: Stream.Stream<unknown> | undefined
}

/** A wake-up with hooks to other processes. */
export const layerWith = ({ publish = Effect.void, subscribe = Stream.empty }: WakeupOptions): Layer.Layer<Wakeup> =>
  Layer.effect(
    Wakeup,
    Effect.gen(function*() {
      const latches = new Set<Latch.Latch>()
      const wakeHere = Effect.sync(() => latches.forEach((latch) => latch.openUnsafe()))
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
