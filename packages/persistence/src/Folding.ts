/**
 * Turns the calls that wait at the same moment into one set.
 *
 * While one set is being worked on, the next one collects; an idle fold runs a
 * call at once, with no timer. So a commit that costs the same for one command
 * as for sixty-four is paid once for all who wait, and throughput grows with load.
 */
import { type Cause, Effect, Exit, Request, RequestResolver, Semaphore } from "effect"
import * as StorageError from "./StorageError.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/** How a fold works. */
export interface FoldingOptions<Command, A, E> {
  /** Name of the span around each set, `Module.operation`. */
  readonly name: string
  /** At most this many commands in a set. Default 64. */
  readonly membersMax?: number | undefined
  /** Sets in work at the same time. Default 1. */
  readonly setsMax?: number | undefined
  /**
   * Works on a set in one unit of work: one result per command, in their order.
   * A refusal of one command is a result, so that it does not fail the others.
   */
  readonly run: (commands: ReadonlyArray<Command>) => Effect.Effect<ReadonlyArray<A>, E>
}

/**
 * A function that answers one command by folding it with others.
 *
 * Inside an open unit of work the command is not folded, since it belongs to that
 * unit. When a set fails as a whole, its commands are run one by one, each with an
 * outcome of its own. A caller that is interrupted leaves the set; once the set is
 * in work its command may still take effect, as with any request that was sent.
 */
export const make = <Command, A, E>(
  options: FoldingOptions<Command, A, E>
): (command: Command) => Effect.Effect<A, E> => {
  const { membersMax = 64, name, setsMax = 1 } = options
  const permits = Semaphore.makeUnsafe(setsMax)

  const runOne = (command: Command) =>
    Effect.map(options.run([command]), (results) => {
      checkLength(name, results, 1)
      return results[0] as A
    })

  const settleSet = (entries: ReadonlyArray<Request.Entry<Fold<Command, A, E>>>) =>
    options.run(entries.map((entry) => entry.request.command)).pipe(
      Effect.tap((results) => Effect.sync(() => checkLength(name, results, entries.length))),
      Effect.exit,
      Effect.flatMap((exit) => {
        if (Exit.isSuccess(exit)) {
          entries.forEach((entry, index) => entry.completeUnsafe(Exit.succeed(exit.value[index] as A)))
          return Effect.void
        }
        if (entries.length === 1 || !wasUndone(exit.cause)) {
          for (const entry of entries) entry.completeUnsafe(Exit.failCause(exit.cause))
          return Effect.void
        }
        return Effect.forEach(
          entries,
          (entry) => Effect.map(Effect.exit(runOne(entry.request.command)), (exit) => entry.completeUnsafe(exit)),
          { discard: true }
        )
      }),
      Effect.withSpan(name, { attributes: { members: entries.length } })
    )

  const resolver = RequestResolver.make<Fold<Command, A, E>>((entries) => permits.withPermits(1)(settleSet(entries)))
    .pipe(
      // Waits for a free permit without keeping it: the set stays open until then.
      RequestResolver.setDelayEffect(permits.withPermits(1)(Effect.void)),
      RequestResolver.batchN(membersMax)
    )

  return (command) =>
    Effect.flatMap(
      UnitOfWork.isOpen,
      (open) => open ? runOne(command) : Effect.request(new Fold<Command, A, E>({ command }), resolver)
    )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

class Fold<Command, A, E> extends Request.Class<{ readonly command: Command }, A, E> {}

/**
 * Whether nothing of the failed set was applied. A lost connection leaves that
 * open, so its commands get the failure instead of a second run.
 */
const wasUndone = (cause: Cause.Cause<unknown>): boolean =>
  StorageError.findInCause("Folding", cause)?.reason !== "unavailable"

const checkLength = (name: string, results: ReadonlyArray<unknown>, expected: number) => {
  if (results.length !== expected) {
    throw new Error(`${name} answered ${results.length} of ${expected} commands`)
  }
}
