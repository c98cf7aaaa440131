/** Forgets accounts: replaces their names and references by opaque ones. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { LedgerStore } from "../LedgerStore.ts"
import * as State from "./booksState.ts"
import * as Check from "./check.ts"
import { closeLot } from "./closeLot.ts"
import { endHold } from "./endHold.ts"
import type { LoadedBooks } from "./loadedBooks.ts"
import type { Expired, ForgetQuery } from "./stored.ts"

/** A command to forget an account. */
export interface ForgetCommand {
  readonly account: string
  /** The maximum number of transactions, or of holds and lots, in one unit of work. Default 500, or `setMax` if that is less. */
  readonly limit?: number | undefined
  /** The time at which holds are released and lots are closed. */
  readonly at: DateTime.Utc
}

/** The result of forgetting an account. Both are 0 if the account is unknown. */
export interface Forgotten {
  /** The transactions that got other references, with those that ended holds and closed lots. */
  readonly transactions: number
  /** The credits that lots and holds had left, which were booked as expired. */
  readonly credits: number
}

/**
 * Creates the operation. Each batch is a unit of work of its own, unless the caller has opened one. Between two, a part of the
 * account has the new name, and the rest is an account whose commands are decided as ever; later batches take what they booked.
 */
export const makeForget = Effect.fnUntraced(
  function*({ books, setMax }: { readonly books: LoadedBooks; readonly setMax: number }) {
    const store = yield* LedgerStore
    const random = yield* SecureRandom.SecureRandom
    const { atomically } = yield* UnitOfWork

    const forgetBatch = Effect.fnUntraced(
      function*({ account, after, at, limit }: Omit<ForgetQuery, "name"> & Pick<ForgetCommand, "at">) {
        const open = yield* store.lockAndFindOpen(account, limit)
        if (open === undefined) return { transactions: 0, credits: 0, after, isForgotten: true }
        if (open.holds.length + open.lots.length > 0) {
          return { transactions: 0, credits: yield* end(books, open, at), after, isForgotten: false }
        }
        const name = nameOf(yield* random.uuidV4())
        return { ...(yield* store.forget({ account, name, after, limit })), credits: 0 }
      },
      atomically
    )

    return Effect.fn("Ledger.forget")(function*({ account, at, limit = Math.min(500, setMax) }: ForgetCommand) {
      Check.name("An account", account, 128)
      Check.limit("The limit of a batch", limit, setMax)
      let forgotten: Forgotten = { transactions: 0, credits: 0 }
      let after = ""
      while (true) {
        const batch = yield* forgetBatch({ account, after, at, limit })
        forgotten = {
          transactions: forgotten.transactions + batch.transactions,
          credits: forgotten.credits + batch.credits
        }
        if (batch.isForgotten) return forgotten
        after = batch.after
      }
    })
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** No command can have the name, since names of accounts have no line feed. */
const nameOf = (uuid: string): string => `forgotten\n${uuid}`

/** Releases open holds, and closes lots. Returns the credits that are booked as expired. */
const end = Effect.fnUntraced(function*(books: LoadedBooks, { holds, lots }: Expired, at: DateTime.Utc) {
  const loaded = yield* books.load({ holds, lots, at })
  const released = holds.reduce((state, { account, reference }) => {
    const hold = State.findHold(State.accountOf(state, account), reference)!
    return endHold(state, hold, { state: "released", credits: 0, at }).state
  }, loaded)
  let credits = 0
  let state = released
  for (const { account, lot: id } of lots) {
    const lot = State.lotOf(State.accountOf(state, account), id)
    credits += lot.remaining
    state = closeLot(state, lot, at)
  }
  yield* books.save(state)
  return credits
})
