/** The unit of work that a fiber is in, and how further calls join it. */
import { Cause, Context, Effect, Exit, Semaphore } from "effect"

/** The defect of a unit whose nested unit failed and whose caller recovered from the failure. */
export class UnitDoomed extends Error {
  override readonly name = "UnitDoomed"
  constructor(cause: Cause.Cause<unknown>) {
    super("A nested unit of work failed, so the whole unit was rolled back", { cause: Cause.squash(cause) })
  }
}

/** The defect of a fiber that joins a unit after the unit has committed or rolled back. */
export class UnitEnded extends Error {
  override readonly name = "UnitEnded"
  constructor() {
    super("The unit of work has already ended. Await every fiber that writes in a unit before the unit ends")
  }
}

/** The state of one outermost unit, shared by all units that joined it. */
interface Outermost {
  /** The failure because of which the unit can only roll back. */
  doomed: Cause.Cause<unknown> | undefined
  ended: boolean
}

/** A unit that is open in a fiber. */
export interface OpenUnit {
  readonly outermost: Outermost
  /**
   * Held by one joined unit at a time. All of them share a transaction, so row locks
   * do not separate them: two that load, decide and save at the same time would lose
   * an update.
   */
  readonly turn: Semaphore.Semaphore
}

/** The key of the open unit. One per database, since a unit of one database does not cover another. */
export type UnitKey = Context.Reference<OpenUnit | undefined>

/** Makes the key of a database. Two keys of the same `id` are the same key. */
export const makeKey = (id: string): UnitKey =>
  Context.Reference<OpenUnit | undefined>(`@kinora/persistence/UnitOfWork/OpenUnit/${id}`, {
    defaultValue: () => undefined
  })

/** Runs `effect` in `transaction`, with a new open unit. Rolls back if the unit is doomed. */
export const begin = <A, E, R, TransactionError>(
  key: UnitKey,
  effect: Effect.Effect<A, E, R>,
  transaction: (body: Effect.Effect<A, E, R>) => Effect.Effect<A, TransactionError, R>
): Effect.Effect<A, TransactionError, R> =>
  Effect.suspend(() => {
    const outermost: Outermost = { doomed: undefined, ended: false }
    return transaction(
      Effect.provideService(effect, key, within(outermost)).pipe(
        Effect.flatMap((value) =>
          outermost.doomed === undefined ? Effect.succeed(value) : Effect.die(new UnitDoomed(outermost.doomed))
        ),
        Effect.onExit(() =>
          Effect.sync(() => {
            outermost.ended = true
          })
        )
      )
    )
  })

/** Runs `effect` in the open unit, after joined units that began earlier. A failure dooms the unit. */
export const join = <A, E, R>(key: UnitKey, unit: OpenUnit, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const { outermost, turn } = unit
  // Tested when the turn comes: the unit may end while a fiber waits for its turn.
  return Effect.suspend(() =>
    outermost.ended ? Effect.die(new UnitEnded()) : Effect.provideService(effect, key, within(outermost))
  ).pipe(
    turn.withPermits(1),
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) outermost.doomed ??= exit.cause
      })
    )
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The units that join inside of one have their own turns, so nesting cannot deadlock. */
const within = (outermost: Outermost): OpenUnit => ({ outermost, turn: Semaphore.makeUnsafe(1) })
