/**
 * How a use-case lets several packages decide before any of them writes.
 *
 * A package opens the state that a set of commands needs (`open`, locked, in the
 * unit), answers each command with a proposal, and saves at the end what was kept.
 * A use-case that gets a refusal from one package simply does not keep the
 * proposals of the others, so nothing has to be undone:
 *
 *     const charge = books.charge(command)       // Result<Proposal<Charged>, Refusal>
 *     const place = lanes.enqueue(command)
 *     if (both accepted) { charge.keep(); place.keep() }
 *
 * Propose, then keep or drop, then propose the next: a proposal is good only until
 * another one of the same state is kept.
 */

/** What an accepted command would do. */
export interface Proposal<A> {
  /** The answer to the command, true once the proposal is kept and saved. */
  readonly value: A
  /** Makes the change part of the open state. Call it at most once. */
  readonly keep: () => void
}
