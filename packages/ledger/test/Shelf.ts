/** A store in a few lines: it applies changes and returns everything. */
import { assert } from "@effect/vitest"
import type { Hold } from "../src/Hold.ts"
import * as Book from "../src/internal/Book.ts"
import type { Changes, Loaded, QuotaCount } from "../src/internal/stored.ts"
import type { Lot, LotId } from "../src/Lot.ts"
import type { Transaction } from "../src/Transaction.ts"

/** Creates an empty shelf. */
export const makeShelf = () => {
  const lots = new Map<LotId, Lot>()
  const quotas = new Map<string, QuotaCount>()
  const holds = new Map<string, Hold>()
  const transactions: Array<Transaction> = []
  return {
    content: (): Loaded => ({
      lots: [...lots.values()],
      quotas: [...quotas.values()],
      transactions,
      holds: [...holds.values()],
      openHolds: sumOpen([...holds.values()])
    }),
    put: (changes: Changes): void => {
      for (const lot of changes.openedLots) {
        assert.isFalse(lots.has(lot.id))
        lots.set(lot.id, lot)
      }
      for (const { closed, credits, lot: id } of changes.changedLots) {
        const lot = lots.get(id)!
        lots.set(id, { ...lot, remaining: lot.remaining + credits, closed: lot.closed || closed })
      }
      for (const { before, ...count } of changes.quotas) {
        const key = `${count.account} ${Book.ofQuota(count.kind, count.day)}`
        assert.strictEqual(quotas.get(key)?.used ?? 0, before)
        quotas.set(key, count)
      }
      transactions.push(...changes.transactions)
      for (const hold of changes.openedHolds) {
        const key = `${hold.account} ${hold.reference}`
        assert.isFalse(holds.has(key))
        holds.set(key, hold)
      }
      for (const { account, reference, state } of changes.endedHolds) {
        const key = `${account} ${reference}`
        const hold = holds.get(key)!
        assert.strictEqual(hold.state, "open")
        holds.set(key, { ...hold, state })
      }
    }
  }
}

const sumOpen = (holds: ReadonlyArray<Hold>): Loaded["openHolds"] =>
  Array.from(
    Map.groupBy(holds.filter(({ state }) => state === "open"), ({ account }) => account),
    ([account, open]) => ({
      account,
      count: open.length,
      credits: open.reduce((sum, { credits }) => sum + credits, 0)
    })
  )
