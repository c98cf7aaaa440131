/** Lists of the operator API with all of their pages. */
import { Effect } from "effect"

/** A page of a list. */
interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly next_cursor: string | null
}

/** Reads all pages of a list. */
export const allOf = Effect.fnUntraced(function*<A, E, R>(
  read: (query: { readonly limit: number; readonly cursor?: string }) => Effect.Effect<Page<A>, E, R>
) {
  let page = yield* read({ limit: 100 })
  const all = [...page.data]
  while (page.next_cursor !== null) {
    page = yield* read({ limit: 100, cursor: page.next_cursor })
    all.push(...page.data)
  }
  return all
})
