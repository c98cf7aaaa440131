/** Books the credits that are left in expired lots. */
import { type DateTime, Effect } from "effect"
import * as Books from "../Books.ts"
import type { LedgerStore } from "../LedgerStore.ts"
import type { LoadedBooks } from "./loadedBooks.ts"

/** Closes up to `limit` lots, oldest expiry first. Belongs to the open unit of work. */
export const expire = Effect.fnUntraced(function*({ at, books, limit, store }: {
  readonly at: DateTime.Utc
  readonly books: LoadedBooks
  readonly limit: number
  readonly store: LedgerStore["Service"]
}) {
  const lots = yield* store.findExpired(at, limit)
  if (lots.length === 0) return { lots: 0, credits: 0 }
  let state = yield* books.load({ lots, at })
  const closed: Array<number> = []
  for (const { account, lot } of lots) {
    const decided = Books.expire(state, { account, lot, at })
    state = decided.state
    if (decided.value !== undefined) closed.push(decided.value.credits)
  }
  yield* books.save(state)
  return { lots: closed.length, credits: closed.reduce((sum, credits) => sum + credits, 0) }
})
