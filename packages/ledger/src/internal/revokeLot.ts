/** Revokes lots before they expire. */
import * as Decision from "@kinora/persistence/Decision"
import { type DateTime, Effect, Result } from "effect"
import type { Books } from "../Books.ts"
import { LedgerError } from "../LedgerError.ts"
import type { LotId } from "../Lot.ts"
import * as State from "./booksState.ts"
import { closeLot } from "./closeLot.ts"
import type { LoadedBooks } from "./loadedBooks.ts"
import { UnknownLot } from "./reasons.ts"

/** A command to close a lot before it expires. */
export interface RevokeCommand {
  readonly account: string
  readonly lot: LotId
  readonly at: DateTime.Utc
}

/** The result of a revocation: the credits that it booked as expired, 0 if the lot was closed before. */
export interface Revoked {
  readonly credits: number
}

/** Revokes a lot. Belongs to the open unit of work. */
export const revoke = Effect.fnUntraced(function*(books: LoadedBooks, command: RevokeCommand) {
  const { account, at, lot } = command
  const decision = revokeLot(yield* books.load({ lots: [{ account, lot }], at }), command)
  if (Result.isFailure(decision)) return yield* new LedgerError({ reason: decision.failure })
  yield* books.save(decision.success.state)
  return decision.success.value
})

/** Closes the lot of an account, whenever it expires. */
export const revokeLot = (
  books: Books,
  { account, at, lot: id }: RevokeCommand
): Decision.Decision<Books, Revoked, UnknownLot> => {
  const lot = State.accountOf(books, account).lots.find((lot) => lot.id === id)
  if (lot === undefined) return Result.fail(new UnknownLot({ lot: id }))
  if (lot.closed) return Decision.accept(books, { credits: 0 })
  return Decision.accept(closeLot(books, lot, at), { credits: lot.remaining })
}
