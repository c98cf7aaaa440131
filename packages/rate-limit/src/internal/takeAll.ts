/** Takes a set of amounts from counters. Shared by limits and budgets. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Effect } from "effect"
import type { RateLimitStore } from "../RateLimitStore.ts"
import * as Counter from "./counter.ts"

/** Returns one result per take, in order. Runs one statement per round. */
export const takeAll = Effect.fnUntraced(function*(
  store: RateLimitStore["Service"],
  kind: Counter.PeriodKind,
  takes: ReadonlyArray<Counter.Take>
): Effect.fn.Return<ReadonlyArray<Counter.Taken>, StorageError> {
  const results: Array<Counter.Taken> = []
  for (const round of Counter.roundsOf(takes)) {
    const grants = yield* store.take(kind, Counter.sorted(round.map(({ demand }) => demand)))
    const grantBySlot = new Map(grants.map((grant) => [Counter.slotText(grant), grant]))
    for (const { demand, indices } of round) {
      const grant = grantBySlot.get(Counter.slotText(demand))
      if (grant === undefined) return yield* Effect.die(new Error(`The store returned no grant for ${demand.key}`))
      Counter.takenOf(demand, grant).forEach((answer, rank) => results[indices[rank]!] = answer)
    }
  }
  return results
})
