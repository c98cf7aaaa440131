/**
 * Combines calls that wait at the same moment into one set.
 *
 * While one set runs, the next one collects. An idle fold runs a call immediately,
 * without a timer. A commit costs the same for one command as for sixty-four, so
 * throughput grows with load.
 */
import {
  type Cause,
  Clock,
  Duration,
  Effect,
  Exit,
  Fiber,
  identity,
  RequestResolver,
  type Result,
  Semaphore
} from "effect"
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
  const resolverOf = makeResolver(options, run, runOne)
  return (command) =>
    Effect.flatMap(isOpen, (open) => {
      if (open) return runOne(command)
      return Effect.request(new LockedKeys.Fold<Command, A, E>({ command }), resolverOf(command))
    })
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

/** Maximum number of sets that run above `setsMax` because they are late. */
const lateMax = 4

/** Runs a set. A wrong number of results is a bug of `run` that shows after its commit, so every command gets it. */
const runSet = <Command, A, E>({ name, run }: FoldingOptions<Command, A, E>): RunSet<Command, A, E> => (commands) =>
  Effect.map(Effect.suspend(() => run(commands)), (answers) => {
    if (answers.length === commands.length) return answers.map((answer) => Exit.succeed(answer))
    const bug = new Error(`${name} returned ${answers.length} results for ${commands.length} commands`)
    return commands.map(() => Exit.die(bug))
  })

/** Returns a function that returns the resolver of a command, which depends on whether its key is locked. */
const makeResolver = <Command, A, E>(
  { keyOf, membersMax = 64, name, patience = "1 second", setsMax = 1 }: FoldingOptions<Command, A, E>,
  run: RunSet<Command, A, E>,
  runOne: (command: Command) => Effect.Effect<A, E>
): (command: Command) => RequestResolver.RequestResolver<LockedKeys.Fold<Command, A, E>> => {
  const turns = makeTurns(setsMax, patience)
  type Entries = LockedKeys.Entries<Command, A, E>
  type Unsettled = LockedKeys.Unsettled<Command, A, E>
  const settled: Unsettled = { entries: [], exit: undefined }

  // Several at once, so that a command that waits for a lock does not delay the others.
  const settleEach = (entries: Entries) =>
    Effect.forEach(
      entries,
      (entry) => Effect.map(Effect.exit(runOne(entry.request.command)), (exit) => entry.completeUnsafe(exit)),
      { concurrency: aloneMax, discard: true }
    )

  const settle = (entries: Entries): Effect.Effect<Unsettled> =>
    Effect.exit(run(entries.map((entry) => entry.request.command))).pipe(
      keyOf === undefined ? identity : Effect.provideService(LockTimeout.CallerReruns, true),
      Effect.flatMap((exit) => {
        if (Exit.isSuccess(exit)) {
          entries.forEach((entry, index) => entry.completeUnsafe(exit.value[index]!))
          return Effect.succeed(settled)
        }
        const failure = Exit.failCause(exit.cause)
        if (keyOf !== undefined && LockTimeout.isIn(exit.cause)) return Effect.succeed({ entries, exit: failure })
        if (entries.length > 1 && wasUndone(exit.cause)) return Effect.as(settleEach(entries), settled)
        for (const entry of entries) entry.completeUnsafe(failure)
        return Effect.succeed(settled)
      }),
      // Without the stack of the first caller, which would be wrong for the others.
      Effect.withSpan(name, { attributes: { members: entries.length } }, { captureStackTrace: false })
    )

  const lockedKeys = keyOf && LockedKeys.make({ keyOf, membersMax, settle })

  /** Runs a set. Keys that were found locked before its turn do not run with the others. */
  const settleSet = (entries: Entries) => {
    if (lockedKeys === undefined) return Effect.asVoid(turns.run(settle(entries)))
    const settleFree = Effect.suspend(() => {
      const { free, locked } = lockedKeys.split(entries)
      if (free.length === 0) return Effect.succeed(locked)
      return Effect.map(settle(free), (unsettled) => {
        // Within the turn, so that the next set does not run these keys.
        lockedKeys.lock(unsettled.entries)
        return [...locked, ...unsettled.entries]
      })
    })
    return Effect.flatMap(turns.run(settleFree), lockedKeys.run)
  }

  const resolver = RequestResolver.make<LockedKeys.Fold<Command, A, E>>(settleSet).pipe(
    // Waits for a free permit without taking it, so that the set stays open until it can run.
    RequestResolver.setDelayEffect(turns.free),
    RequestResolver.batchN(membersMax)
  )
  return (command) => lockedKeys?.resolverOf(command) ?? resolver
}

/** The turn of a running set. */
interface Turn {
  /** The permit that the set holds: one of its own, or one for late sets. */
  held: Semaphore.Semaphore
  /** The fiber that lets other sets run when this one is late. Exists if another set waits. */
  watch: Fiber.Fiber<unknown> | undefined
  isEnded: boolean
  /** On the monotonic clock, in milliseconds. */
  readonly startedAt: number
}

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** The turns of the sets of a fold. */
const makeTurns = (setsMax: number, patience: Duration.Input) => {
  const permits = Semaphore.makeUnsafe(setsMax)
  const latePermits = Semaphore.makeUnsafe(lateMax)
  const patienceMillis = Duration.toMillis(Duration.fromInputUnsafe(patience))
  const running = new Set<Turn>()
  let waiting = 0

  /** Waits until a set is late, and gives its permit to the next set. */
  const giveWay = (turn: Turn) =>
    Effect.uninterruptibleMask((restore) =>
      monotonicMillis.pipe(
        Effect.flatMap((now) => {
          const left = turn.startedAt + patienceMillis - now
          return left > 0 ? restore(Effect.sleep(left)) : Effect.void
        }),
        Effect.andThen(restore(latePermits.take(1))),
        Effect.flatMap(() => {
          if (turn.isEnded) return latePermits.release(1)
          turn.held = latePermits
          return permits.release(1)
        })
      )
    )

  /** Not a race, which would need two more fibers. */
  const watch = (turn: Turn) =>
    turn.watch !== undefined || turn.isEnded ? Effect.void : Effect.uninterruptible(Effect.map(
      Effect.forkDetach(giveWay(turn), { startImmediately: true }),
      (fiber) => {
        turn.watch = fiber
      }
    ))

  /** Waits for a permit. Only sets that others wait for are watched, so that the others need no timer. */
  const wait = <B>(permit: Effect.Effect<B>) =>
    Effect.suspend(() => {
      waiting++
      const watched = running.size === 0
        ? permit
        : Effect.andThen(Effect.forEach(running, watch, { discard: true }), permit)
      return Effect.ensuring(watched, Effect.sync(() => waiting--))
    })

  const start = Effect.flatMap(monotonicMillis, (startedAt) => {
    const turn: Turn = { held: permits, watch: undefined, isEnded: false, startedAt }
    running.add(turn)
    return waiting === 0 ? Effect.succeed(turn) : Effect.as(watch(turn), turn)
  })

  const end = (turn: Turn) =>
    Effect.suspend(() => {
      turn.isEnded = true
      running.delete(turn)
      return turn.watch === undefined ? Effect.void : Fiber.interrupt(turn.watch)
    })

  /** Runs a set with a permit, which the next set may take when this one is late. */
  const run = <B>(set: Effect.Effect<B>) =>
    Effect.acquireUseRelease(
      Effect.andThen(wait(Effect.interruptible(permits.take(1))), start),
      () => set,
      (turn) => Effect.andThen(end(turn), Effect.suspend(() => turn.held.release(1)))
    )

  return { free: wait(permits.withPermits(1)(Effect.void)), run }
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
