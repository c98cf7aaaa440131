/** The keys of a fold whose commands run apart from its sets, because a transaction elsewhere locks their rows. */
import { Clock, Duration, Effect, type Exit, Semaphore } from "effect"
import * as FoldedSets from "./foldedSets.ts"
import * as LockTimeout from "./lockTimeout.ts"

/** Entries of one fold. */
export type Entries<Command, A, E> = ReadonlyArray<FoldedSets.Entry<Command, A, E>>

/** Entries that a lock timeout prevented, and the failure with which they end unless they run again. */
export interface Unsettled<Command, A, E> {
  readonly entries: Entries<Command, A, E>
  readonly exit: Exit.Exit<never, E> | undefined
}

/** Options for `make`. */
export interface LockedKeysOptions<Command, A, E> {
  /** Maximum number of commands in a set. */
  readonly membersMax: number
  /** Returns the key of the rows that a command locks. */
  readonly keyOf: (command: Command) => string
  /** Runs a set and settles its entries, unless a lock timeout undid it. Returns the entries that remain. */
  readonly settle: (entries: Entries<Command, A, E>) => Effect.Effect<Unsettled<Command, A, E>>
}

/** The locked keys of a fold. */
export interface LockedKeys<Command, A, E> {
  /** Returns whether the key of the command is locked. */
  readonly has: (command: Command) => boolean
  /** Marks the key of the entry as locked, and settles the entry in a set of that key. */
  readonly add: FoldedSets.AddEntry<Command, A, E>
}

/**
 * Creates an empty set of keys. A key is removed when one of its sets ends without a lock timeout, so while its rows
 * are locked no other command waits with it.
 */
export const make = <Command, A, E>(
  { keyOf, membersMax, settle }: LockedKeysOptions<Command, A, E>
): LockedKeys<Command, A, E> => {
  const keys = new Map<string, FoldedSets.AddEntry<Command, A, E>>()
  const permits = Semaphore.makeUnsafe(setsMax)

  /** Tries a set until its rows are not locked or `lockWaitMax` has passed. It holds a connection during an attempt only. */
  const settleKey = Effect.fnUntraced(function*(key: string, entries: Entries<Command, A, E>) {
    const clock = Clock.Clock.defaultValue()
    const end = clock.currentTimeMillisUnsafe() + Duration.toMillis(LockTimeout.lockWaitMax)
    let left = yield* permits.withPermits(1)(settle(entries))
    while (left.entries.length > 0 && clock.currentTimeMillisUnsafe() < end) {
      yield* Effect.provideService(Effect.sleep(pause), Clock.Clock, clock)
      left = yield* permits.withPermits(1)(settle(left.entries))
    }
    if (left.entries.length === 0) keys.delete(key)
    for (const entry of left.entries) entry.settle(left.exit!)
  })

  const lock = (key: string) => {
    const known = keys.get(key)
    if (known !== undefined) return known
    const oldest = keys.size < keysMax ? undefined : keys.keys().next().value
    if (oldest !== undefined) keys.delete(oldest)
    const add = FoldedSets.make<Command, A, E>({
      membersMax,
      setsMax: 1,
      patience: Infinity,
      run: (entries) => settleKey(key, entries)
    })
    keys.set(key, add)
    return add
  }

  return {
    has: (command) => keys.size > 0 && keys.has(keyOf(command)),
    add: (entry) => lock(keyOf(entry.command))(entry)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum number of sets of locked keys that run at the same time, and so of connections that wait for locks. */
const setsMax = 8

/** Maximum number of remembered keys. The oldest is forgotten, so its next command runs in a set with others. */
const keysMax = 1_000

/** Time between two attempts. */
const pause = Duration.millis(20)
