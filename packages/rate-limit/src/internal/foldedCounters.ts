/** Counts hits of one kind of counter: with sets, advances, and what the process remembers of keys. */
import * as Deletion from "@kinora/persistence/Deletion"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Duration, Effect } from "effect"
import { RateLimitStore } from "../RateLimitStore.ts"
import type { Advances } from "./advances.ts"
import * as Buckets from "./buckets.ts"
import type * as Counter from "./counter.ts"
import { makeFullKeys } from "./fullKeys.ts"
import { type AdvanceOptions, makeGivenBackAdvances } from "./givenBackAdvances.ts"
import { monotonicMillis } from "./monotonic.ts"
import { makeRecentReads } from "./recentReads.ts"
import { makeTakeAll } from "./takeAll.ts"
import { makeWaits } from "./waits.ts"

/** Options of counting. `RateLimit.RateLimitOptions` documents them. */
export interface CountingOptions extends AdvanceOptions {
  readonly membersMax?: number | undefined
  readonly fullKeysMax?: number | undefined
  readonly peekAge?: Duration.Input | undefined
  readonly peekKeysMax?: number | undefined
}

/** Counts takes of one kind of counter. */
export interface Counting {
  /** Returns whether `decide` may spend advances: not in a transaction, in which a hit may be rolled back. */
  readonly canSpend: Effect.Effect<boolean>
  /** Decides a take from the memory of this process. Returns `undefined` if the storage has to decide. */
  readonly decide: (take: Counter.Take, clock: Clock.Clock, canSpend: boolean) => Counter.Taken | undefined
  /** Counts a take that the storage has to decide, with others that wait at the same moment. */
  readonly takeFolded: (take: Counter.Take) => Effect.Effect<Counter.Taken, StorageError>
  /**
   * Counts a take that was refused once more, when all processes have given back what they took in advance. Returns the refusal
   * if it may not wait for that.
   */
  readonly takeAgain: (take: Counter.Take, refusal: Counter.Taken) => Effect.Effect<Counter.Taken, StorageError>
  /** Counts takes that the storage has to decide, all of them or none if it fails. Returns one result per take, in order. */
  readonly takeAll: (takes: ReadonlyArray<Counter.Take>) => Effect.Effect<ReadonlyArray<Counter.Taken>, StorageError>
  /** Returns the result that a take would have, without counting it. */
  readonly peek: (take: Counter.Take) => Effect.Effect<Counter.Taken, StorageError>
  /** Deletes the counters of a key, in sets of up to `rowsMax`, and removes the key from the memory of this process. Returns their number. */
  readonly forget: (key: string, rowsMax: number | undefined) => Effect.Effect<number, StorageError>
}

/** Makes the counting of one kind of counter. */
export const makeCounting = Effect.fnUntraced(function*(kind: Counter.CounterKind, options: CountingOptions) {
  const { advanceKeysMax = 10_000, fullKeysMax = 10_000, membersMax = 4_096, peekAge = 0, peekKeysMax = 10_000 } =
    options
  const store = yield* RateLimitStore
  const unitOfWork = yield* UnitOfWork
  const advances = kind === "bucket" ? undefined : yield* makeGivenBackAdvances(kind, options)
  const full = makeFullKeys({ keysMax: fullKeysMax, lasts: advances?.lastsMillis ?? Infinity })
  const recent = makeRecentReads(peekKeysMax, Duration.fromInputUnsafe(peekAge), advances?.versionOf)
  const takeSet = yield* makeTakeAll(kind, advances)

  const takeAll = Effect.fnUntraced(function*(takes: ReadonlyArray<Counter.Take>) {
    const sentAt = monotonicMillis(yield* Clock.Clock)
    const results = yield* Effect.ensuring(takeSet(takes), Effect.sync(() => recent.forget(takes)))
    // A transaction that is open may roll back, and its counts with it.
    if (!(yield* unitOfWork.isOpen)) {
      results.forEach((result, index) => full.remember(takes[index]!, result, sentAt))
    }
    return results
  })

  const takeFolded = yield* Folding.make({
    name: "RateLimit.hit",
    membersMax,
    keyOf: ({ key }: Counter.Take) => key,
    run: takeAll
  })
  const takeAgain = makeTakeAgain({ advances, keysMax: advanceKeysMax, isOpen: unitOfWork.isOpen, takeFolded })
  const readOne = yield* makeRead(kind, recent, membersMax)

  const counting: Counting = {
    canSpend: advances === undefined ? Effect.succeed(false) : Effect.map(unitOfWork.isOpen, (isOpen) => !isOpen),

    decide: (take, clock, canSpend) =>
      (canSpend ? advances?.spend(take, monotonicMillis(clock)) : undefined) ?? full.refuse(take, clock),

    takeFolded,

    takeAgain,

    takeAll,

    peek: Effect.fnUntraced(function*(take) {
      const clock = yield* Clock.Clock
      const refusal = full.refuse(take, clock)
      if (refusal !== undefined) return refusal
      const takenAt = (counter: Counter.Current) =>
        peeked(take, Buckets.seenBy(take, counter), advances?.leftOf(counter) ?? 0)
      const known = recent.get(take.key, monotonicMillis(clock))
      if (known !== undefined) return takenAt(known)
      const read = Effect.map(readOne(take, clock), takenAt)
      return yield* advances === undefined ? read : advances.read(take.key, read)
    }),

    forget: Effect.fnUntraced(function*(key, rowsMax) {
      const dropKnown = Effect.sync(() => {
        full.forget(key)
        recent.forget([{ key }])
      })
      const run = (limit: number) => unitOfWork.atomically(store.forget(kind, key, limit))
      const deleted = yield* Deletion.inSets({ name: "RateLimit.forget", limit: rowsMax, run })
      yield* dropKnown
      // Again after the commit, since other calls read the former counter until then. Advances stay if it rolls back.
      yield* unitOfWork.afterCommit(Effect.andThen(dropKnown, Effect.sync(() => advances?.drop(key))))
      return deleted
    })
  }
  return counting
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The result of a take that counts nothing. `left` is the unspent advance of this process, a part of the counter. */
const peeked = ({ cost, limit }: Counter.Take, counter: Counter.Current, left: number): Counter.Taken => {
  const used = counter.used - left
  return { ...counter, used, accepted: used + cost <= limit }
}

/** Makes `Counting.takeAgain`. */
const makeTakeAgain = ({ advances, isOpen, keysMax, takeFolded }: {
  readonly advances: Advances | undefined
  readonly keysMax: number
  readonly isOpen: Effect.Effect<boolean>
  readonly takeFolded: Counting["takeFolded"]
}): Counting["takeAgain"] => {
  if (advances === undefined) return (_take, refusal) => Effect.succeed(refusal)
  const waits = makeWaits(keysMax)
  return Effect.fnUntraced(function*(take, refusal) {
    // The counter of a transaction stays locked while it waits.
    if (yield* isOpen) return refusal
    const wait = waits.begin(take, refusal.period)
    if (wait === undefined) return refusal
    yield* Effect.onInterrupt(
      Effect.sleep(Duration.millis(3 * advances.lastsMillis)),
      () => Effect.sync(wait.interrupt)
    )
    wait.end()
    return advances.spend(take, monotonicMillis(yield* Clock.Clock)) ?? (yield* takeFolded(take))
  })
}

/** Makes the function that reads the counter of a key, and keeps it. */
const makeRead = Effect.fnUntraced(function*(
  kind: Counter.CounterKind,
  recent: ReturnType<typeof makeRecentReads>,
  membersMax: number
) {
  const store = yield* RateLimitStore
  const { isOpen } = yield* UnitOfWork

  const read = Effect.fnUntraced(function*(wanted: ReadonlyArray<Counter.Counted>) {
    const wantedByKey = new Map(wanted.map((counted) => [counted.key, counted]))
    const counters = yield* store.read(kind, [...wantedByKey.values()])
    const counterByKey = new Map(counters.map((counter) => [counter.key, counter]))
    return wanted.map(({ key }) => counterByKey.get(key)!)
  })

  const readFolded = yield* Folding.make({ name: "RateLimit.peek", membersMax, run: read })

  return Effect.fnUntraced(function*(counted: Counter.Counted, clock: Clock.Clock) {
    const sentAt = monotonicMillis(clock)
    const token = recent.begin(counted.key)
    const counter = yield* Effect.onError(readFolded(counted), () => Effect.sync(() => recent.forget([counted])))
    // A transaction that is open may roll back.
    if (yield* isOpen) recent.forget([counted])
    else recent.keep(token, counter, sentAt)
    return counter
  })
})
