/** Spans that cost nothing while tracing is disabled. */
import { Effect, References } from "effect"

/**
 * Applies `withSpan`, which adds a span to an effect, unless `TracerEnabled` is false. Effect creates a span, with
 * its stack trace, even if no tracer receives it.
 */
export const ifTraced =
  <A, E, R, R2>(withSpan: (effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R2>) =>
  (effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | R2> =>
    Effect.withFiber<A, E, R | R2>((fiber) => fiber.getRef(References.TracerEnabled) ? withSpan(effect) : effect)
