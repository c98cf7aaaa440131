/** Latches of fibers that watch generations, by generation. */
import { Effect, Latch, type Scope } from "effect"
import type { GenerationId } from "../Generation.ts"

/** Makes an empty set of watchers. */
export const makeWatchers = () => {
  const watchers = new Map<GenerationId, Set<Latch.Latch>>()
  const add = (id: GenerationId, isOpen: boolean): Latch.Latch => {
    const latch = Latch.makeUnsafe(isOpen)
    watchers.set(id, (watchers.get(id) ?? new Set()).add(latch))
    return latch
  }
  const remove = (id: GenerationId, latch: Latch.Latch): void => {
    const latches = watchers.get(id)
    latches?.delete(latch)
    if (latches?.size === 0) watchers.delete(id)
  }
  return {
    /** Adds a latch until the scope closes. `isOpen` returns whether it is open from the start. */
    watch: (id: GenerationId, isOpen: () => boolean): Effect.Effect<Latch.Latch, never, Scope.Scope> =>
      Effect.acquireRelease(
        Effect.sync(() => add(id, isOpen())),
        (latch) => Effect.sync(() => remove(id, latch))
      ),
    openOf: (id: GenerationId): void => watchers.get(id)?.forEach((latch) => latch.openUnsafe()),
    openAll: (): void => watchers.forEach((latches) => latches.forEach((latch) => latch.openUnsafe()))
  }
}
