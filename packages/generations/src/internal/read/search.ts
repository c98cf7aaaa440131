/** The use-case `Generations.search`. */
import { type DateTime, Effect } from "effect"
import { type Generation, GenerationId, type Status } from "../../Generation.ts"
import { GenerationStore } from "../../GenerationStore.ts"

/** Criteria of a search in the generations of all accounts. An absent one matches everything. */
export interface SearchCriteria {
  readonly account?: string | undefined
  readonly status?: Status | undefined
  /** Id of the model at the time of the job. */
  readonly model?: string | undefined
  /** Only generations created at this time or later. */
  readonly createdAfter?: DateTime.Utc | undefined
  /** Only generations created before this time. */
  readonly createdBefore?: DateTime.Utc | undefined
  /** `next` of the page before. */
  readonly before?: GenerationId | undefined
  readonly limit: number
}

/** Makes the use-case. */
export const makeSearch = Effect.gen(function*() {
  const store = yield* GenerationStore

  const searchAccount = Effect.fnUntraced(function*(account: string, bounds: Bounds, criteria: SearchCriteria) {
    const { limit, model, status } = criteria
    // The jobs of an account have no index of models, so a call reads a limited number of them.
    const looked = model === undefined ? limit + 1 : lookedMax
    const found = yield* store.list(account, { status, before: bounds.before, limit: looked })
    const own = found.filter((generation) =>
      (model === undefined || generation.model === model) && (bounds.from === undefined || generation.id >= bounds.from)
    )
    const page = pageOf(own, limit)
    const last = found[looked - 1]
    const isRest = page.next === null && last !== undefined && (bounds.from === undefined || last.id >= bounds.from)
    return isRest ? { ...page, next: last.id } : page
  })

  return Effect.fn("Generations.search")(function*(criteria: SearchCriteria) {
    const { account, limit, model, status } = criteria
    const bounds = boundsOf(criteria)
    return account === undefined
      ? pageOf(yield* store.search({ ...bounds, status, model, limit: limit + 1 }), limit)
      : yield* searchAccount(account, bounds, criteria)
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum number of jobs of an account that a search for a model reads. */
const lookedMax = 1_000

interface Bounds {
  readonly from: GenerationId | undefined
  readonly before: GenerationId | undefined
}

/** The page of the first `limit` of these jobs, of which one more was looked for. */
const pageOf = (found: ReadonlyArray<Generation>, limit: number) => ({
  generations: found.slice(0, limit),
  next: found.length > limit ? found[limit - 1]!.id : null
})

/** The ids of the selected times, since ids start with the time at which they were made. */
const boundsOf = ({ before, createdAfter, createdBefore }: SearchCriteria): Bounds => {
  const end = createdBefore === undefined ? undefined : firstAt(createdBefore)
  return {
    from: createdAfter === undefined ? undefined : firstAt(createdAfter),
    before: end === undefined || (before !== undefined && before < end) ? before : end
  }
}

/** Returns the lowest id that can be made at this time. */
const firstAt = (time: DateTime.Utc): GenerationId => {
  const hex = Math.max(0, time.epochMilliseconds).toString(16).padStart(12, "0")
  return GenerationId.fromUuid(`${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`)
}
