/** Records attempts that ended without an outcome. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type { LeftAttempt, LeftReason } from "../leftAttempt.ts"
import type { Settings } from "./settings.ts"

/** Creates a function that takes jobs from workers and calls `left` of the handlers with their attempts, in one unit of work. */
export const makeLeaving = Effect.fnUntraced(function*({ handlers }: Pick<Settings, "handlers">) {
  const { atomically } = yield* UnitOfWork
  const hooks = handlers.flatMap(({ left }) => left ?? [])

  return <A>(
    take: Effect.Effect<A, StorageError>,
    reason: LeftReason,
    attemptsOf: (taken: A) => ReadonlyArray<LeftAttempt>
  ): Effect.Effect<A, StorageError> => {
    const record = Effect.fnUntraced(function*(taken: A) {
      const attempts = attemptsOf(taken)
      if (attempts.length > 0) yield* Effect.forEach(hooks, (left) => left(attempts, reason), { discard: true })
    })
    return hooks.length === 0 ? take : atomically(Effect.tap(take, record))
  }
})
