/** Ends holds: their credits are returned, and a part of them is charged. Pure. */
import { DateTime } from "effect"
import type { Hold } from "../Hold.ts"
import type { LotId } from "../Lot.ts"
import type { Transaction } from "../Transaction.ts"
import * as Book from "./Book.ts"
import * as State from "./booksState.ts"
import type { CaptureCommand, LotPart } from "./commands.ts"
import * as Lots from "./lots.ts"
import { returnLots } from "./returnLots.ts"

/** How a hold ends. */
export interface EndCommand {
  readonly state: Exclude<Hold["state"], "open">
  /** The credits to charge, if the hold is captured: 0 to those of the hold. */
  readonly credits: number
  readonly at: DateTime.Utc
  /** Of the charge. */
  readonly metadata?: CaptureCommand["metadata"]
}

/**
 * Ends an open hold. Books a release of all its credits and, if it is captured, a charge. The lots that gave the first
 * credits pay: each gets them back and pays them at once, so it does not change, whether or not it has expired. The others
 * are returned as by a refund, so the lots hold what they would hold if the charge had been booked instead of the hold.
 */
export const endHold = (books: State.BooksState, hold: Hold, { at, credits, metadata, state }: EndCommand) => {
  const { account: name, reference } = hold
  const account = State.accountOf(books, name)
  const [parts, rest] = split(partsOf(account, hold), credits)
  const first = State.nextTransaction(books.ids, "release", { account: name, reference, at })
  const returned = returnLots({ account, rules: books.lotRules }, rest, {
    book: Book.ofHold(reference),
    at: State.storageTime(books, at),
    openedBy: first.transaction.id,
    openedAt: at,
    expiresAt: DateTime.addDuration(at, books.refundLifetime)
  }, first.ids)
  const released = State.book(State.setHold(returned.account, { ...hold, state }), {
    ...first.transaction,
    amount: hold.credits,
    reverses: hold.openedBy,
    entries: [
      ...parts.map(({ credits, lot }): Entry => ({ from: Book.ofHold(reference), to: lot, amount: credits })),
      ...returned.entries
    ]
  })
  const value = {
    parts,
    returned: returned.parts,
    labels: Lots.labelsOf(parts.map(({ lot }) => State.lotOf(account, lot)))
  }
  if (state !== "captured") return { state: State.withAccount(books, name, released, returned.ids), value }
  const second = State.nextTransaction(returned.ids, "charge", { account: name, reference, at, metadata })
  const charged = State.book(released, {
    ...second.transaction,
    amount: credits,
    entries: parts.map(({ credits, lot }): Entry => ({ from: lot, to: "consumed", amount: credits }))
  })
  return { state: State.withAccount(books, name, charged, second.ids), value }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Entry = Transaction["entries"][number]

/** Returns what each lot gave, in order. Throws if the transaction of the hold was not loaded. */
const partsOf = (account: State.AccountState, { reference }: Hold): ReadonlyArray<LotPart> => {
  const booked = State.findTransaction(account, { kind: "hold", reference })
  if (booked === undefined) throw new Error(`The hold ${reference} has no transaction`)
  return booked.entries.map(({ amount, from }) => ({ lot: from as LotId, credits: amount })) // only lots give credits
}

/** Splits off the first `credits`. */
const split = (parts: ReadonlyArray<LotPart>, credits: number): readonly [Array<LotPart>, Array<LotPart>] => {
  const first: Array<LotPart> = []
  const rest: Array<LotPart> = []
  let missing = credits
  for (const { credits, lot } of parts) {
    const taken = Math.min(credits, missing)
    missing -= taken
    if (taken > 0) first.push({ lot, credits: taken })
    if (taken < credits) rest.push({ lot, credits: credits - taken })
  }
  return [first, rest]
}
