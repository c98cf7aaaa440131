/** Returns the credits of expired holds, and books those that are left in expired lots. */
import type { Decided } from "@kinora/persistence/Decision"
import { type DateTime, Effect } from "effect"
import type { Books } from "../Books.ts"
import type { LedgerStore } from "../LedgerStore.ts"
import type { LotId } from "../Lot.ts"
import * as State from "./booksState.ts"
import { closeLot } from "./closeLot.ts"
import { expireHold } from "./holds.ts"
import type { LoadedBooks } from "./loadedBooks.ts"
import { isExpired } from "./lots.ts"

/** Ends holds and closes lots, up to `limit` in all, oldest expiry first. Belongs to the open unit of work. */
export const expire = Effect.fnUntraced(function*({ at, books, limit, store }: {
  readonly at: DateTime.Utc
  readonly books: LoadedBooks
  readonly limit: number
  readonly store: LedgerStore["Service"]
}) {
  const { holds, lots } = yield* store.findExpired(at, limit)
  if (lots.length === 0 && holds.length === 0) return { lots: 0, credits: 0, holds: 0 }
  let state = yield* books.load({ lots, holds, at })
  let ended = 0
  for (const hold of holds) {
    const decided = expireHold(state, { ...hold, at })
    state = decided.state
    if (decided.value !== undefined) ended++
  }
  const closed: Array<number> = []
  for (const { account, lot } of lots) {
    const decided = expireLot(state, { account, lot, at })
    state = decided.state
    if (decided.value !== undefined) closed.push(decided.value.credits)
  }
  yield* books.save(state)
  return { lots: closed.length, credits: closed.reduce((sum, credits) => sum + credits, 0), holds: ended }
})

/**
 * Books the credits that are left in an expired lot as expired, and closes the lot.
 * `undefined` means that the lot has not expired at `at`, is closed already, or belongs to an account that is being forgotten.
 */
export const expireLot = (
  books: Books,
  command: { readonly account: string; readonly lot: LotId; readonly at: DateTime.Utc }
): Decided<Books, { readonly credits: number } | undefined> => {
  const account = State.accountOf(books, command.account)
  const lot = account.lots.find(({ id }) => id === command.lot)
  if (lot === undefined || lot.closed || !isExpired(lot, State.storageTime(books, command.at))) {
    return { state: books, value: undefined }
  }
  return { state: closeLot(books, lot, command.at), value: { credits: lot.remaining } }
}
