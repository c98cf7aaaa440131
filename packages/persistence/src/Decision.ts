/**
 * The shape of every rule: a pure function from an immutable state and a command to
 * the next state and a value, or to a refusal.
 *
 * A decision changes nothing until the caller adopts its state. So a use-case can ask
 * several packages and adopt all of their states or none:
 *
 *     const charged = Books.charge(books, charge)
 *     const placed = Lanes.enqueue(lanes, job)
 *     if (Result.isSuccess(charged) && Result.isSuccess(placed)) {
 *       books = charged.success.state
 *       lanes = placed.success.state
 *     }
 */
import { Result } from "effect"

/** An accepted command. */
export interface Decided<State, A> {
  /** The state after the command. */
  readonly state: State
  /** The result of the command, true once the state is saved. */
  readonly value: A
}

/** An accepted command, or the reason why it was refused. */
export type Decision<State, A, Refusal = never> = Result.Result<Decided<State, A>, Refusal>

/** Accepts a command. */
export const accept = <State, A>(state: State, value: A): Decision<State, A> => Result.succeed({ state, value })

/** A decided set of commands. */
export interface DecidedAll<State, A, Refusal> {
  /** The state after all accepted commands. */
  readonly state: State
  /** One result per command, in order. */
  readonly results: ReadonlyArray<Result.Result<A, Refusal>>
}

/** Decides commands in order. Adopts the state of each accepted one; a refused one does not stop the others. */
export const all = <State, Command, A, Refusal>(
  state: State,
  commands: ReadonlyArray<Command>,
  decide: (state: State, command: Command) => Decision<State, A, Refusal>
): DecidedAll<State, A, Refusal> => {
  let current = state
  const results = commands.map((command) =>
    Result.map(decide(current, command), ({ state, value }) => {
      current = state
      return value
    })
  )
  return { state: current, results }
}
