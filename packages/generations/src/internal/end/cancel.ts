/** The use-case `Generations.cancel`. */
import { Folding } from "@kinora/persistence"
import { Effect } from "effect"
import { isFinal } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import type { Reads } from "../read/reads.ts"
import { refuse } from "../refuse.ts"
import { makeEndAll } from "./endAll.ts"

/** Makes the use-case. Concurrent calls share units of work. */
export const makeCancel = Effect.fnUntraced(function*({ get }: Pick<Reads, "get">) {
  const endOne = yield* Folding.makeResult({
    name: "Generations.end",
    keyOf: ({ subject }) => subject.account,
    run: yield* makeEndAll
  })

  return Effect.fn("Generations.cancel")(function*(account: string, text: string) {
    const subject = yield* get(account, text)
    // A started job never becomes waiting again, so it needs no lock to be refused.
    const isWaiting = subject.status === "pending" || subject.status === "queued"
    if (isWaiting) {
      yield* endOne({ _tag: "Cancel", subject }).pipe(
        // The state that is read below decides.
        Effect.catchTags({ AlreadyStarted: () => Effect.void, AlreadyEnded: () => Effect.void })
      )
    }
    const generation = yield* get(account, text)
    if (generation.status === "cancelled") return generation
    // A worker has claimed a job that is not final, even if the row does not show it yet.
    const status = isFinal(generation.status) ? generation.status : "processing"
    return yield* refuse(new GenerationError.NotCancellable({ plan: generation.plan, status }))
  })
})
