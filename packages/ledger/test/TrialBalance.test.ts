import { assert, it } from "@effect/vitest"
import { noon } from "../src/internal/contract/commands.ts"
import { findMoved } from "../src/internal/memory/queries.ts"
import { trialBalanceOf } from "../src/internal/trialBalance.ts"
import { LotId } from "../src/Lot.ts"
import { type Transaction, TransactionId } from "../src/Transaction.ts"

const lot = LotId.fromUuid("01890a5d-ac96-774b-8000-000000000000")

const balanceOf = (amount: number, entries: Transaction["entries"]) => {
  const id = TransactionId.fromUuid("01890a5d-ac96-774b-8000-000000000001")
  const transaction: Transaction = {
    id,
    account: "planted",
    kind: "charge",
    reference: "job",
    at: noon,
    amount,
    part: undefined,
    reverses: undefined,
    metadata: undefined,
    entries
  }
  return trialBalanceOf(findMoved({ transactions: new Map([["job", transaction]]) }))
}

it("does not balance if an entry is missing, moves credits to a quota, or names an unknown book", () => {
  const sound = { from: lot, to: "consumed", amount: 30 } as const
  assert.isTrue(balanceOf(30, [sound]).balanced)
  assert.isFalse(balanceOf(30, []).balanced)
  assert.isFalse(balanceOf(30, [sound, sound]).balanced)
  assert.isFalse(balanceOf(30, [{ from: lot, to: "allowance", amount: 30 }]).balanced)
  const unknown = "lost" as "consumed"
  assert.isFalse(balanceOf(30, [{ from: lot, to: unknown, amount: 30 }]).balanced)
  assert.isFalse(balanceOf(30, [{ from: unknown, to: unknown, amount: 30 }]).balanced)
})
