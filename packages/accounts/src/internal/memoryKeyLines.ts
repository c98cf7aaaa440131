/** Lines of keys in memory: their budgets and what they have spent. */
import type { UnitOfWork } from "@kinora/persistence"
import type { AccountId } from "../Account.ts"
import type { AccountStore } from "../AccountStore.ts"
import type { KeyId } from "../ApiKey.ts"
import { isUnlimited, type LineBudget, unlimited } from "../KeyBudget.ts"
import type { Day, KeyLine, Spending } from "../KeySpending.ts"

/** The lines that have a budget, or had one. */
export interface MemoryKeyLines {
  /** Returns whether a line has a budget. */
  readonly isLimited: (line: KeyId) => boolean
  /** Deletes the lines that match. */
  readonly remove: (matches: (line: KeyId, account: AccountId) => boolean) => void
  readonly methods: Pick<
    AccountStore["Service"],
    "deleteSpending" | "findBudgets" | "findLines" | "lockLines" | "saveBudget" | "saveUse"
  >
}

/** Creates the table. */
export const makeKeyLines = (
  { access, makeMap }: Pick<UnitOfWork.MemoryBackend["Service"], "access" | "makeMap">
): MemoryKeyLines => {
  const lines = makeMap<KeyId, Line>()
  return {
    isLimited: (line) => !isUnlimited(lines.get(line)?.budget ?? unlimited),
    remove: (matches) => {
      for (const [id, { account }] of Array.from(lines.entries())) {
        if (matches(id, account)) lines.delete(id)
      }
    },
    methods: {
      saveBudget: (account, line, { budget, budgetMax }) =>
        access(() => {
          lines.set(line, { account, budget, budgetMax, spending: lines.get(line)?.spending ?? new Map() })
        }),
      findBudgets: (ids) =>
        access(() =>
          Array.from(new Set(ids)).flatMap((id) => {
            const line = lines.get(id)
            return line === undefined ? [] : [{ line: id, budget: line.budget, budgetMax: line.budgetMax }]
          })
        ),
      // The memory backend runs one unit at a time, so no lock is needed.
      lockLines: () => access(() => undefined),
      findLines: (ids, since) =>
        access(() =>
          Array.from(new Set(ids)).flatMap((id): ReadonlyArray<KeyLine> => {
            const line = lines.get(id)
            return line === undefined ? [] : [
              { id, budget: line.budget, spending: daysOf(line, (day) => day >= since), changed: new Set() }
            ]
          })
        ),
      saveUse: (uses) =>
        access(() => {
          for (const { credits, day, jobs, line: id } of uses) {
            const line = lines.get(id)
            if (line === undefined) throw new Error(`The line ${id} does not exist`)
            lines.set(id, { ...line, spending: new Map(line.spending).set(day, { credits, jobs }) })
          }
        }),
      deleteSpending: (before, limit) =>
        access(() => {
          const old = Array.from(lines.entries())
            .flatMap(([id, { spending }]) => Array.from(spending.keys(), (day) => ({ id, day })))
            .filter(({ day }) => day < before)
            .toSorted((a, b) => a.day < b.day ? -1 : a.day > b.day ? 1 : 0)
            .slice(0, limit)
          for (const { day, id } of old) {
            const line = lines.get(id)
            if (line !== undefined) lines.set(id, { ...line, spending: daysOf(line, (other) => other !== day) })
          }
          return old.length
        })
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Line extends LineBudget {
  readonly account: AccountId
  readonly spending: Spending
}

const daysOf = ({ spending }: Line, matches: (day: Day) => boolean): Spending =>
  new Map(Array.from(spending).filter(([day]) => matches(day)))
