/** Takes a set of amounts from counters. Shared by limits and budgets. */
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type { RateLimitStore } from "../RateLimitStore.ts"
import * as Counter from "./counter.ts"

/**
 * Returns one result per take, in order. Runs one statement per round. Several rounds are
 * one unit of work, so a set that fails takes nothing, and its takes can run again.
 */
export const takeAll = (
  store: RateLimitStore["Service"],
  { atomically }: UnitOfWork["Service"],
  kind: Counter.PeriodKind,
  takes: ReadonlyArray<Counter.Take>
): Effect.Effect<ReadonlyArray<Counter.Taken>, StorageError> => {
  const rounds = Counter.roundsOf(takes)
  const taken = takeRounds(store, kind, rounds)
  return rounds.length > 1 ? atomically(taken) : taken
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Takes locks in the first round only, since each key of a later round is also in the first.
 * If a period ends between two rounds, the later one locks counters of a later period, which
 * every process locks after those of the earlier one.
 */
const takeRounds = Effect.fnUntraced(function*(
  store: RateLimitStore["Service"],
  kind: Counter.PeriodKind,
  rounds: ReadonlyArray<ReadonlyArray<Counter.Part>>
): Effect.fn.Return<ReadonlyArray<Counter.Taken>, StorageError> {
  const results: Array<Counter.Taken> = []
  for (const round of rounds) {
    const grants = yield* store.take(kind, Counter.sorted(round.map(({ demand }) => demand)))
    const grantByKey = new Map(grants.map((grant) => [grant.key, grant]))
    for (const { demand, indices } of round) {
      const grant = grantByKey.get(demand.key)
      if (grant === undefined) return yield* Effect.die(new Error(`The store returned no grant for ${demand.key}`))
      Counter.takenOf(demand, grant).forEach((answer, rank) => results[indices[rank]!] = answer)
    }
  }
  return results
})
