/** The keys of a fold whose commands run apart from its sets, because a transaction elsewhere locks their rows. */
import { Clock, Duration, Effect, type Exit, Request, RequestResolver, Semaphore } from "effect"
import * as LockTimeout from "./lockTimeout.ts"

/** A command that waits in a set. */
export class Fold<Command, A, E> extends Request.Class<{ readonly command: Command }, A, E> {}

/** Waiting commands of one fold. */
export type Entries<Command, A, E> = ReadonlyArray<Request.Entry<Fold<Command, A, E>>>

/** Commands that a lock timeout prevented, and the failure with which they end unless they run again. */
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
  /** Returns the resolver of the key of a command, or `undefined` if the key is not locked. */
  readonly resolverOf: (command: Command) => RequestResolver.RequestResolver<Fold<Command, A, E>> | undefined
  /** Returns the entries whose keys are not locked, and the others. */
  readonly split: (entries: Entries<Command, A, E>) => {
    readonly free: Entries<Command, A, E>
    readonly locked: Entries<Command, A, E>
  }
  /** Marks the keys of the entries as locked. */
  readonly lock: (entries: Entries<Command, A, E>) => void
  /** Marks the keys of the entries as locked, and settles the entries in sets of one key each. */
  readonly run: (entries: Entries<Command, A, E>) => Effect.Effect<void>
}

/**
 * Creates an empty set of keys. A key is removed when one of its sets ends without a lock timeout, so while its rows
 * are locked no other command waits with it.
 */
export const make = <Command, A, E>(
  { keyOf, membersMax, settle }: LockedKeysOptions<Command, A, E>
): LockedKeys<Command, A, E> => {
  const resolvers = new Map<string, RequestResolver.RequestResolver<Fold<Command, A, E>>>()
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
    if (left.entries.length === 0) resolvers.delete(key)
    for (const entry of left.entries) entry.completeUnsafe(left.exit!)
  })

  const makeResolver = (key: string) => {
    const turn = Semaphore.makeUnsafe(1)
    return RequestResolver.make<Fold<Command, A, E>>((entries) => turn.withPermits(1)(settleKey(key, entries))).pipe(
      RequestResolver.setDelayEffect(turn.withPermits(1)(Effect.void)),
      RequestResolver.batchN(membersMax)
    )
  }

  const lockedOf = (key: string) => {
    const known = resolvers.get(key)
    if (known !== undefined) return known
    const oldest = resolvers.size < keysMax ? undefined : resolvers.keys().next().value
    if (oldest !== undefined) resolvers.delete(oldest)
    const resolver = makeResolver(key)
    resolvers.set(key, resolver)
    return resolver
  }

  const runOne = (entry: Request.Entry<Fold<Command, A, E>>) =>
    Effect.map(
      Effect.exit(Effect.request(entry.request, lockedOf(keyOf(entry.request.command)))),
      (exit) => entry.completeUnsafe(exit)
    )

  const isLocked = ({ request }: Entries<Command, A, E>[number]) => resolvers.has(keyOf(request.command))

  return {
    resolverOf: (command) => resolvers.size === 0 ? undefined : resolvers.get(keyOf(command)),
    split: (entries) =>
      resolvers.size === 0
        ? { free: entries, locked: [] }
        : { free: entries.filter((entry) => !isLocked(entry)), locked: entries.filter(isLocked) },
    lock: (entries) => {
      for (const { request } of entries) lockedOf(keyOf(request.command))
    },
    run: (entries) => Effect.forEach(entries, runOne, { concurrency: "unbounded", discard: true })
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
