/** The end of a delivery worker. */
import { Duration, Effect, Fiber, Latch, Option } from "effect"
import type { Parts } from "./Parts.ts"

/**
 * Creates the drain of a worker: it stops the loops and waits up to `grace` for the sends in
 * flight, then interrupts them. Concurrent calls share one drain.
 */
export const make = (
  parts: Parts,
  loops: ReadonlyArray<Fiber.Fiber<unknown>>,
  grace: Duration.Input
): Effect.Effect<void> => {
  const stop = Effect.gen(function*() {
    yield* Fiber.interruptAll(loops)
    yield* parts.slots.isEmpty
  }).pipe(
    Effect.timeoutOption(grace),
    Effect.flatMap((ended) => Option.isSome(ended) ? Effect.void : giveUp(parts))
  )
  const drained = Latch.makeUnsafe(false)
  let isDraining = false
  return Effect.suspend(() => {
    const isFirst = !isDraining
    isDraining = true
    const drain = stop.pipe(Effect.ensuring(drained.open), Effect.withSpan("DeliveryWorker.drain"))
    // Detached, so that interrupting one caller does not stop the drain.
    return isFirst ? Effect.andThen(Effect.forkDetach(drain), drained.await) : drained.await
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long a drain waits for the sends that it interrupted. */
const interruptionMax = Duration.seconds(1)

/** Interrupts the sends in flight. Their deliveries are in the same state as after a crash. */
const giveUp = (parts: Parts) =>
  Effect.gen(function*() {
    parts.hasGivenUp = true
    const count = parts.slots.interrupt()
    yield* Effect.logWarning("Interrupted webhooks in flight, which are due again when their leases end", { count })
    yield* Effect.timeoutOption(parts.slots.isEmpty, interruptionMax)
  })
