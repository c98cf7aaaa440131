/** The use-cases that read generations. */
import { Folding } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option } from "effect"
import { type File, type Generation, GenerationId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import type { UsageSpan } from "../../Usage.ts"
import { orRefuse, refuse } from "../refuse.ts"
import { makeRecentResults } from "./recentResults.ts"
import { resultFile } from "./resultFile.ts"

/** The use-cases that read generations, and `find` for other use-cases. */
export type Reads = Effect.Success<ReturnType<typeof makeReads>>

/** Makes the use-cases. Concurrent calls share statements. `resultAge`: see `GenerationsOptions`. */
export const makeReads = Effect.fnUntraced(function*(resultAge: Duration.Duration) {
  const store = yield* GenerationStore
  const recent = makeRecentResults(resultAge)
  const find = yield* Folding.make({ name: "Generations.find", membersMax: 256, setsMax: 4, run: makeFindAll(store) })

  // Without a span: clients poll, and a span would cost more than the rest. Each set has a span with the number of its members.
  const get = Effect.fnUntraced(function*(account: string, text: string) {
    const generation = yield* findByText(text)
    return generation?.account === account ? generation : yield* refuse(new GenerationError.NotFound())
  })

  const findByText = Effect.fnUntraced(function*(text: string) {
    const id = GenerationId.parse(text)
    return id === undefined ? undefined : Option.getOrUndefined(yield* find(id))
  })

  const usage = Effect.fn("Generations.usage")((account: string, span: UsageSpan) => store.usage(account, span))

  const usageByKey = Effect.fn("Generations.usageByKey")((account: string, span: UsageSpan, limit: number) =>
    store.usageByKey(account, span, limit)
  )

  // Has no span, like `get`, since players request one range after the other.
  const file = Effect.fnUntraced(function*(text: string, file: File, account?: string) {
    const now = yield* DateTime.now
    const generation = recent.get(text, now) ?? (yield* findByText(text))
    if (generation === undefined || (account !== undefined && generation.account !== account)) {
      return yield* refuse(new GenerationError.NotFound())
    }
    recent.keep(text, generation, now)
    return { generation, file: yield* orRefuse(resultFile(generation, file, now)) }
  })

  return { find, get, usage, usageByKey, file }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const makeFindAll = (store: GenerationStore["Service"]) => (ids: ReadonlyArray<GenerationId>) =>
  Effect.map(store.find(ids), (found) => {
    const byId = new Map(found.map((generation) => [generation.id, generation]))
    return ids.map((id): Option.Option<Generation> => Option.fromUndefinedOr(byId.get(id)))
  })
