/** The pools of models that operators have paused. */
import { Catalog } from "@kinora/catalog/Catalog"
import * as Model from "@kinora/catalog/Model"
import { Effect, Option } from "effect"
import { ModelPauses } from "../../ModelPauses.ts"

/**
 * Makes an effect that returns those of the offered pools whose models are paused. Reads the pauses
 * at most every two seconds. If they cannot be read, the last known ones apply.
 */
export const makePausedPools = Effect.fnUntraced(function*(offered: ReadonlySet<string>) {
  const catalog = yield* Catalog
  const pauses = yield* ModelPauses
  let known: ReadonlyArray<string> = []

  const idsOf = (id: string) =>
    Option.match(catalog.find(id), { onNone: () => [id], onSome: (model): ReadonlyArray<string> => Model.ids(model) })
  const read = Effect.map(pauses.list, (found) => {
    known = found.flatMap(({ model }) => idsOf(model)).filter((pool) => offered.has(pool))
    return known
  }).pipe(
    Effect.catch((error) => Effect.as(Effect.logWarning("Reading the paused models failed", error), known))
  )
  return yield* Effect.cachedWithTTL(read, "2 seconds")
})
