/** The order of the calls that use one connection of a caller. */
import { Effect } from "effect"
import { processWide } from "./processWide.ts"

/** Held by one call at a time, in the order in which they asked for it. Calls of other copies of this module take part. */
export interface Turn {
  /** Resolves when all calls have ended that asked for the turn until now. */
  last: Promise<void>
}

/** Returns the turn of a connection. */
export const of = (connection: object): Turn => {
  const turns = processWide("turns", () => new WeakMap<object, Turn>())
  const turn = turns.get(connection) ?? { last: Promise.resolve() }
  turns.set(connection, turn)
  return turn
}

/** Runs an effect when the calls that asked before have ended. */
export const hold = (turn: Turn) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      const earlier = turn.last
      const own = Promise.withResolvers<void>()
      // A call that is interrupted while it waits ends early, and the next one still waits for the earlier ones.
      turn.last = earlier.then(() => own.promise)
      return restore(Effect.promise(() => earlier)).pipe(
        Effect.andThen(restore(effect)),
        Effect.ensuring(Effect.sync(own.resolve))
      )
    })
  )
