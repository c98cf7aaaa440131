/** How credits go back to the lots that paid them. Pure. */
import { type Lot, LotId } from "../Lot.ts"
import type { Transaction } from "../Transaction.ts"
import type { Book } from "./Book.ts"
import * as State from "./booksState.ts"
import type { LotPart } from "./commands.ts"
import * as IdSequence from "./IdSequence.ts"
import * as Lots from "./lots.ts"

/** The book that has the credits, and what lots are opened with in place of those that have expired. */
interface Origin extends Pick<Lot, "openedBy" | "openedAt" | "expiresAt"> {
  readonly book: Book
  /** The time by the clock of the storage, which decides whether a lot has expired. */
  readonly at: Lot["openedAt"]
}

/** Returns credits to the lots that paid them, or to new lots in place of those that have expired. */
export const returnLots = (
  { account, rules }: { readonly account: State.AccountState; readonly rules: Lots.LotRules },
  paid: ReadonlyArray<LotPart>,
  { at, book, ...opening }: Origin,
  ids: IdSequence.IdSequence
) => {
  const parts: Array<LotPart> = []
  const filled: Array<Lot> = []
  const opened: Array<Lot> = []
  let rest = ids
  for (const { credits, lot: id } of paid) {
    const lot = State.lotOf(account, id)
    if (Lots.isExpired(lot, at)) {
      const next = IdSequence.next(rest)
      rest = next.rest
      const id = LotId.fromUuid(next.uuid)
      const kind = Lots.kindOfReturned(rules, lot.kind)
      opened.push({ ...lot, ...opening, id, kind, granted: credits, remaining: credits, closed: false })
      parts.push({ lot: id, credits })
    } else {
      filled.push({ ...lot, remaining: lot.remaining + credits })
      parts.push({ lot: id, credits })
    }
  }
  return {
    account: State.openLots(State.replaceLots(account, filled), opened, rules),
    entries: parts.map(({ credits, lot }): Transaction["entries"][number] => ({
      from: book,
      to: lot,
      amount: credits
    })),
    ids: rest,
    parts
  }
}
