/**
 * Turns the calls that wait at the same moment into one set.
 *
 * While one set is being worked on, the next one collects; an idle fold runs a
 * call at once, with no timer. So a commit that costs the same for one command
 * as for sixty-four is paid once for all who wait, and throughput grows with load.
 */
import { type Cause, Effect, Exit, Request, RequestResolver, Semaphore } from "effect"
import { SqlError } from "effect/sql"
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
 * unit. When a set fails as a whole, its commands are run by themselves, each with
 * an outcome of its own. A caller that is interrupted leaves the set; once the set is
 * in work its command may still take effect, as with any request that was sent.
 */
export const make = <Command, A, E>(
  options: FoldingOptions<Command, A, E>
): (command: Command) => Effect.Effect<A, E> => {
  const { membersMax = 64, name, setsMax = 1 } = options
  const permits = Semaphore.makeUnsafe(setsMax)

  /** An answer for each command. That they are too few or too many is a bug of `run`, found after its commit. */
  const run = (commands: ReadonlyArray<Command>): Effect.Effect<ReadonlyArray<Exit.Exit<A>>, E> =>
    Effect.map(Effect.suspend(() => options.run(commands)), (answers) => {
      if (answers.length === commands.length) return answers.map((answer) => Exit.succeed(answer))
      const mistake = new Error(`${name} answered ${answers.length} of ${commands.length} commands`)
      return commands.map(() => Exit.die(mistake))
    })

  const runOne = (command: Command) => Effect.flatMap(run([command]), ([answer]) => answer!)

  const settle = (entries: ReadonlyArray<Request.Entry<Fold<Command, A, E>>>) =>
    Effect.exit(run(entries.map((entry) => entry.request.command))).pipe(
      Effect.flatMap((exit) => {
        if (Exit.isSuccess(exit)) {
          return Effect.sync(() => entries.forEach((entry, index) => entry.completeUnsafe(exit.value[index]!)))
        }
        return entries.length > 1 && wasUndone(exit.cause)
          ? settleEach(entries)
          : Effect.sync(() => entries.forEach((entry) => entry.completeUnsafe(Exit.failCause(exit.cause))))
      }),
      // Without the stack of whoever came first: it says nothing of the others.
      Effect.withSpan(name, { attributes: { members: entries.length } }, { captureStackTrace: false })
    )

  /** Several at once, so that those who wait for a lock do not stop those who need not. */
  const settleEach = (entries: ReadonlyArray<Request.Entry<Fold<Command, A, E>>>) =>
    Effect.forEach(
      entries,
      (entry) => Effect.map(Effect.exit(runOne(entry.request.command)), (exit) => entry.completeUnsafe(exit)),
      { concurrency: aloneMax, discard: true }
    )

  const resolver = RequestResolver.make<Fold<Command, A, E>>((entries) => permits.withPermits(1)(settle(entries)))
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

/** Commands of a failed set that are run at the same time, each by itself. */
const aloneMax = 8

/**
 * Whether nothing of the failed set was applied. A lost connection leaves that
 * open, so its commands get the failure instead of a second run. A lock that was
 * not had in time may be one command's alone.
 */
const wasUndone = (cause: Cause.Cause<unknown>): boolean => {
  const failure = StorageError.findInCause("Folding", cause)
  return failure?.reason !== "unavailable" || isLockTimeout(failure.cause)
}

const isLockTimeout = (cause: unknown): boolean =>
  SqlError.isSqlError(cause) && cause.reason._tag === "LockTimeoutError"
