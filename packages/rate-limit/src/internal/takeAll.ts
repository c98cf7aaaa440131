/** Takes a set of amounts from counters. Shared by limits and budgets. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Effect } from "effect"
import { RateLimitStore } from "../RateLimitStore.ts"
import type { Advances } from "./advances.ts"
import * as Counter from "./counter.ts"
import { monotonicMillis } from "./monotonic.ts"

/**
 * Returns a function that takes a set and returns one result per take, in order. It runs one statement per round.
 * Several rounds are one unit of work, so a set that fails takes nothing, and its takes can run again.
 */
export const makeTakeAll = Effect.fnUntraced(function*(kind: Counter.CounterKind, advances: Advances | undefined) {
  const store = yield* RateLimitStore
  const { atomically, isOpen } = yield* UnitOfWork

  /**
   * Takes locks in the first round only, since each key of a later round is also in the first.
   * If a period ends between two rounds, the later one locks counters of a later period, which
   * every process locks after those of the earlier one.
   */
  const takeRounds = Effect.fnUntraced(function*(
    rounds: ReadonlyArray<ReadonlyArray<Counter.Part>>,
    advances: Advances | undefined
  ): Effect.fn.Return<ReadonlyArray<Counter.Taken>, StorageError> {
    const results: Array<Counter.Taken> = []
    for (const round of rounds) {
      const sentAt = monotonicMillis(yield* Clock.Clock)
      const demands = advances === undefined
        ? round.map(({ demand }) => demand)
        : round.map(({ demand }) => ({ ...demand, takes: demand.takes + advances.wanted(demand, sentAt) }))
      const grants = yield* store.take(kind, Counter.sorted(demands))
      const grantByKey = new Map(grants.map((grant) => [grant.key, grant]))
      for (const { demand, indices } of round) {
        const grant = grantByKey.get(demand.key)
        if (grant === undefined) return yield* Effect.die(new Error(`The store returned no grant for ${demand.key}`))
        advances?.keep(demand, grant, sentAt)
        for (const [rank, taken] of Counter.takenOf(demand, grant).entries()) {
          // An earlier advance is a part of the counter, so it can cover takes that the storage refused.
          const covered = taken.accepted ? undefined : advances?.spend(demand, sentAt)
          results[indices[rank]!] = covered ?? taken
        }
      }
    }
    return results
  })

  return Effect.fnUntraced(function*(
    takes: ReadonlyArray<Counter.Take>
  ): Effect.fn.Return<ReadonlyArray<Counter.Taken>, StorageError> {
    const rounds = Counter.roundsOf(takes)
    // A transaction may be rolled back, so it takes nothing in advance.
    if (rounds.length > 1) return yield* atomically(takeRounds(rounds, undefined))
    return yield* takeRounds(rounds, advances === undefined || (yield* isOpen) ? undefined : advances)
  })
})
