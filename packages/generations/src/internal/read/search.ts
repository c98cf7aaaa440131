/** The use-cases `Generations.list` and `Generations.search`. */
import { type DateTime, Effect } from "effect"
import { type Generation, GenerationId, type Kind, type Plan, type Status } from "../../Generation.ts"
import { GenerationStore, type Selection } from "../../GenerationStore.ts"
import { formsOf } from "./promptTexts.ts"

/** Criteria of the page of a list or a search. An absent one matches everything. */
interface Criteria {
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

/** Criteria of a list of the generations of an account. An absent one matches everything. */
export interface ListCriteria extends Criteria {
  readonly kind?: Kind | undefined
  readonly plan?: Plan | undefined
  /** Id of the API key that created them. */
  readonly key?: string | undefined
  /**
   * A part of the prompt, of one character or more. Letters from A to Z match in either case. Other letters match as they
   * are, and in a word that is all lower case, all upper case or has a capital first letter.
   */
  readonly text?: string | undefined
}

/** Criteria of a search in the generations of all accounts. An absent one matches everything. */
export interface SearchCriteria extends Criteria {
  readonly account?: string | undefined
}

/** Options for `makeSearch`. */
export interface SearchOptions {
  /** Maximum number of generations that a call with a filter without an index reads. */
  readonly filteredMax: number
}

/** Makes the use-cases. */
export const makeSearch = Effect.fnUntraced(function*({ filteredMax }: SearchOptions) {
  const store = yield* GenerationStore

  const list = Effect.fn("Generations.list")(function*(account: string, criteria: ListCriteria) {
    const { key, kind, limit, model, plan, status, text } = criteria
    const selection: Selection = { ...boundsOf(criteria), status, kind, plan, limit: limit + 1 }
    if ((key ?? model ?? text) === undefined) return pageOf(yield* store.list(account, selection), limit)
    const filter = { key, model, texts: text === undefined ? undefined : formsOf(text), readMax: filteredMax }
    const { generations, last } = yield* store.filter(account, { ...selection, ...filter })
    const page = pageOf(generations, limit)
    return page.next === null && last !== undefined ? { ...page, next: last } : page
  })

  const search = Effect.fn("Generations.search")(function*({ account, ...criteria }: SearchCriteria) {
    const { limit, model, status } = criteria
    return account === undefined
      ? pageOf(yield* store.search({ ...boundsOf(criteria), status, model, limit: limit + 1 }), limit)
      : yield* list(account, criteria)
  })

  return { list, search }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

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
const boundsOf = ({ before, createdAfter, createdBefore }: Criteria): Bounds => {
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
