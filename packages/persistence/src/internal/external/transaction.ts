/** A transaction that a caller has opened with a driver of its own. */
import { Context, type Effect, Semaphore } from "effect"

/** The response to a statement. */
export interface Response {
  /** In the representation of `@effect/sql-pg`: `timestamptz` as `Date`, `int8` as `bigint`, `date` as text, JSON as values. */
  readonly rows: ReadonlyArray<object>
  /** The command of the response, such as `COMMIT`, if the driver returns it. */
  readonly command?: string | undefined
}

/** Runs a statement with the parameters `$1`, `$2` and so on. */
export type Query = (text: string, values: ReadonlyArray<unknown>) => Promise<Response>

/** A transaction of a caller, and the calls that join it. */
export interface Transaction {
  readonly query: Query
  /** Held by one call at a time: a savepoint contains all statements that follow it on the connection. */
  readonly turn: Semaphore.Semaphore
  /** Effects of joined units that run after the commit of the caller. */
  readonly afterCommit: Array<Effect.Effect<void>>
}

/** Makes a transaction without calls. The transactions of one connection share their turns. */
export const make = (connection: object, query: Query): Transaction => {
  const turn = turns.get(connection) ?? Semaphore.makeUnsafe(1)
  turns.set(connection, turn)
  return { query, turn, afterCommit: [] }
}

/** The transaction that units of work of a fiber join. Default: none. */
export const Current = Context.Reference<Transaction | undefined>("@kinora/persistence/external/Current", {
  defaultValue: () => undefined
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const turns = new WeakMap<object, Semaphore.Semaphore>()
