/** Serves takes of a set, whatever they ask: the part that limits and budgets share. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Effect } from "effect"
import * as Counter from "../Counter.ts"
import type { RateLimitStore } from "../RateLimitStore.ts"

/** One answer per take, in their order; one statement per round. */
export const takeAll = Effect.fnUntraced(function*(
  store: RateLimitStore["Service"],
  kind: Counter.PeriodKind,
  takes: ReadonlyArray<Counter.Take>
): Effect.fn.Return<ReadonlyArray<Counter.Answer>, StorageError> {
  const answers: Array<Counter.Answer> = []
  for (const round of Counter.roundsOf(takes)) {
    const grants = yield* store.take(kind, Counter.sorted(round.map(({ demand }) => demand)))
    const grantBySlot = new Map(grants.map((grant) => [Counter.slotText(grant), grant]))
    for (const { demand, indices } of round) {
      const grant = grantBySlot.get(Counter.slotText(demand))
      if (grant === undefined) return yield* Effect.die(new Error(`The store did not answer for ${demand.key}`))
      Counter.answersOf(demand, grant).forEach((answer, rank) => answers[indices[rank]!] = answer)
    }
  }
  return answers
})
