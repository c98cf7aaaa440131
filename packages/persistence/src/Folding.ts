/**
 * Combines calls that wait at the same moment into one set.
 *
 * While one set runs, the next one collects. An idle fold runs a call immediately,
 * without a timer. A commit costs the same for one command as for sixty-four, so
 * throughput grows with load.
 */
import { type Cause, type Context, Duration, Effect, Exit, identity, type Result } from "effect"
import * as FoldedSets from "./internal/foldedSets.ts"
import * as LockedKeys from "./internal/lockedKeys.ts"
import * as LockTimeout from "./internal/lockTimeout.ts"
import * as StorageError from "./StorageError.ts"
import { UnitOfWork } from "./UnitOfWork.ts"

/** Options for `make` and `makeResult`. */
export interface FoldingOptions<Command, A, E> {
  /** Name of the span around each set, `Module.operation`. */
  readonly name: string
  /** Maximum number of commands in a set. Default 64. */
  readonly membersMax?: number | undefined
  /** Maximum number of sets that run at the same time. Default 1. */
  readonly setsMax?: number | undefined
  /**
   * Time after which a running set no longer delays the next ones. They run in parallel
   * then: up to 4 sets above `setsMax`. Default 1 second.
   */
  readonly patience?: Duration.Input | undefined
  /**
   * Returns the key of the rows that a command locks, for example its account. If a set
   * ends by a lock timeout, the commands of each of its keys run by themselves, and the
   * commands of a key that stays locked run apart from the other sets. They are tried
   * again for up to 2 seconds. Required for sets that wait for locks.
   */
  readonly keyOf?: ((command: Command) => string) | undefined
  /**
   * Runs a set in one unit of work and returns one result per command, in order.
   * Return a refusal as a result, so that it does not fail the other commands.
   */
  readonly run: (commands: ReadonlyArray<Command>) => Effect.Effect<ReadonlyArray<A>, E>
}

/**
 * Creates a function that runs one command by folding it with others.
 *
 * A call inside a unit of work, or inside any transaction of the same client, is not
 * folded: it runs in that transaction and is undone with it. A set that hangs, for
 * example on a connection that does not respond, delays the others for `patience` only,
 * and its members fail when its unit of work does. A set that waits for a lock delays
 * them until the `lock_timeout` of the session, for which 300 ms is a good value, and
 * only the commands of the locked key (`keyOf`) wait longer. If a set fails as a whole
 * for another reason, each of its commands runs by itself with its own outcome, except
 * after a lost connection.
 *
 * A caller that is interrupted leaves the set; if the set is running already, its
 * command may still take effect, like any request that was sent.
 */
export const make = <Command, A, E>(
  options: FoldingOptions<Command, A, E>
): Effect.Effect<(command: Command) => Effect.Effect<A, E>, never, UnitOfWork> =>
  Effect.map(UnitOfWork, (unitOfWork) => makeWith(unitOfWork, options))

/** Creates a folded function like `make`, over the given unit of work. */
export const makeWith = <Command, A, E>(
  { isOpen }: UnitOfWork["Service"],
  options: FoldingOptions<Command, A, E>
): (command: Command) => Effect.Effect<A, E> => {
  const run = runSet(options)
  const runOne = (command: Command) => Effect.flatMap(run([command]), ([answer]) => answer!)
  const add = makeSets(options, run, runOne)
  const fold = (command: Command) =>
    Effect.withFiber<A, E>(({ context }) =>
      Effect.callback((resume) => {
        const entry = makeEntry(command, context, resume)
        add(entry)
        return Effect.sync(() => {
          entry.hasLeft = true
        })
      })
    )
  return (command) => Effect.flatMap(isOpen, (open) => open ? runOne(command) : fold(command))
}

/**
 * Creates a folded function like `make`, from a `run` that returns a `Result` per
 * command. The folded call fails with the refusal of its command. A refusal does not
 * doom a unit of work that the call runs in.
 */
export const makeResult = <Command, A, Refusal, E>(
  options: FoldingOptions<Command, Result.Result<A, Refusal>, E>
): Effect.Effect<(command: Command) => Effect.Effect<A, Refusal | E>, never, UnitOfWork> =>
  Effect.map(make(options), (call) => (command) => Effect.flatMap(call(command), Effect.fromResult))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type RunSet<Command, A, E> = (
  commands: ReadonlyArray<Command>
) => Effect.Effect<ReadonlyArray<Exit.Exit<A>>, E>

/** Maximum number of commands of a failed set that run at the same time, each by itself. */
const aloneMax = 8

/** Runs a set. A wrong number of results is a bug of `run` that shows after its commit, so every command gets it. */
const runSet = <Command, A, E>({ name, run }: FoldingOptions<Command, A, E>): RunSet<Command, A, E> => (commands) =>
  Effect.map(Effect.suspend(() => run(commands)), (answers) => {
    if (answers.length === commands.length) return answers.map((answer) => Exit.succeed(answer))
    const bug = new Error(`${name} returned ${answers.length} results for ${commands.length} commands`)
    return commands.map(() => Exit.die(bug))
  })

const makeEntry = <Command, A, E>(
  command: Command,
  context: Context.Context<never>,
  resume: (exit: Exit.Exit<A, E>) => void
): FoldedSets.Entry<Command, A, E> => {
  const entry: FoldedSets.Entry<Command, A, E> = {
    command,
    context,
    hasLeft: false,
    settle: (exit) => {
      if (!entry.hasLeft) resume(exit)
    }
  }
  return entry
}

/** Returns the function that adds an entry: to the sets of its key if that is locked, otherwise to those of all keys. */
const makeSets = <Command, A, E>(
  { keyOf, membersMax = 64, name, patience = "1 second", setsMax = 1 }: FoldingOptions<Command, A, E>,
  run: RunSet<Command, A, E>,
  runOne: (command: Command) => Effect.Effect<A, E>
): FoldedSets.AddEntry<Command, A, E> => {
  type Entries = LockedKeys.Entries<Command, A, E>
  type Unsettled = LockedKeys.Unsettled<Command, A, E>
  const settled: Unsettled = { entries: [], exit: undefined }

  // Several at once, so that a command that waits for a lock does not delay the others.
  const settleEach = (entries: Entries) =>
    Effect.forEach(
      entries,
      (entry) => Effect.map(Effect.exit(runOne(entry.command)), entry.settle),
      { concurrency: aloneMax, discard: true }
    )

  const settle = (entries: Entries): Effect.Effect<Unsettled> =>
    Effect.exit(run(entries.map(({ command }) => command))).pipe(
      keyOf === undefined ? identity : Effect.provideService(LockTimeout.CallerReruns, true),
      Effect.flatMap((exit) => {
        if (Exit.isSuccess(exit)) {
          entries.forEach((entry, index) => entry.settle(exit.value[index]!))
          return Effect.succeed(settled)
        }
        const failure = Exit.failCause(exit.cause)
        if (keyOf !== undefined && LockTimeout.isIn(exit.cause)) return Effect.succeed({ entries, exit: failure })
        if (entries.length > 1 && wasUndone(exit.cause)) return Effect.as(settleEach(entries), settled)
        for (const entry of entries) entry.settle(failure)
        return Effect.succeed(settled)
      }),
      // Without the stack of the first caller, which would be wrong for the others.
      Effect.withSpan(name, { attributes: { members: entries.length } }, { captureStackTrace: false })
    )

  const lockedKeys = keyOf && LockedKeys.make({ keyOf, membersMax, settle })

  const runFree = (entries: Entries) =>
    Effect.map(settle(entries), (unsettled) => {
      // Within the turn, so that the next set does not run these keys.
      for (const entry of unsettled.entries) lockedKeys?.add(entry)
    })

  /** Runs a set. Keys that were found locked before its turn do not run with the others. */
  const runTurn = (entries: Entries) => {
    if (lockedKeys === undefined) return runFree(entries)
    const free = entries.filter((entry) => {
      const isLocked = lockedKeys.has(entry.command)
      if (isLocked) lockedKeys.add(entry)
      return !isLocked
    })
    return free.length === 0 ? Effect.void : runFree(free)
  }

  const add = FoldedSets.make<Command, A, E>({
    membersMax,
    setsMax,
    patience: Duration.toMillis(Duration.fromInputUnsafe(patience)),
    run: runTurn
  })
  return (entry) => lockedKeys?.has(entry.command) === true ? lockedKeys.add(entry) : add(entry)
}

/**
 * Returns whether nothing of the failed set was applied. After a lost connection
 * this is unknown, so its commands fail instead of running again. A lock timeout may
 * be caused by one command only, so the others run again.
 */
const wasUndone = (cause: Cause.Cause<unknown>): boolean => {
  const failure = StorageError.findInCause("Folding", cause)
  return failure?.reason !== "unavailable" || LockTimeout.isIn(cause)
}
