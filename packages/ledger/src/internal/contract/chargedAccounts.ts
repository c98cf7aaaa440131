/** Accounts with a charge for refunds of parts. */
import { Effect } from "effect"
import { Ledger } from "../../Ledger.ts"
import { chargeOf, noon } from "./commands.ts"
import * as heldAccounts from "./heldAccounts.ts"

/** An account with three lots of 10 credits, in spending order, and a charge `job`. */
export const openAccount = Effect.fnUntraced(function*(charged: number) {
  const opened = yield* heldAccounts.openAccount()
  yield* (yield* Ledger).charge(chargeOf(opened.account, "job", charged))
  return opened
})

/** A refund of a part of the charge `job`. */
export const refundOf = (account: string, reference: string, credits: number) => ({
  account,
  reference: "job",
  part: { reference, credits },
  at: noon
})
