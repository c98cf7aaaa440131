/** Loads and saves what lines of keys spend, and deletes old spending. */
import { Pipelining, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option, Result } from "effect"
import { AccountStore } from "../AccountStore.ts"
import type * as ApiKey from "../ApiKey.ts"
import { isUnlimited } from "../KeyBudget.ts"
import * as KeySpending from "../KeySpending.ts"
import type { KeySpendings } from "../KeySpendings.ts"

/** Creates `Accounts.spending`. */
export const makeKeySpendings = Effect.gen(function*() {
  const store = yield* AccountStore
  const { isOpen } = yield* UnitOfWork.UnitOfWork

  const find = Effect.fnUntraced(function*(lines: ReadonlyArray<ApiKey.KeyId>, since: DateTime.Utc) {
    const found = yield* store.findLines(lines, KeySpending.monthStartOf(KeySpending.dayOf(since)))
    return linesOf(found)
  })

  const spending: KeySpendings = {
    load: Effect.fn("Accounts.spending.load")(
      function*(lines: ReadonlyArray<ApiKey.KeyId>, since: DateTime.Utc) {
        if (!(yield* isOpen)) return yield* Effect.die(new Error("spending.load must be called inside a unit of work"))
        const ids = Array.from(new Set(lines)).toSorted()
        if (ids.length === 0) return linesOf([])
        // Locks and reads in two statements: the second one sees the commits that the lock waited for.
        const [, found] = yield* Pipelining.both(store.lockLines(ids), find(ids, since))
        return found
      }
    ),

    save: Effect.fn("Accounts.spending.save")(function*(lines: KeySpending.KeyLines) {
      const changes = KeySpending.changesOf(lines)
      if (changes.length > 0) yield* Pipelining.atCommit(store.saveUse(changes))
    }),

    check: Effect.fn("Accounts.spending.check")(function*(command: KeySpending.Spend) {
      const lines = yield* find([command.line], command.at)
      return Result.map(KeySpending.spend(lines, command), ({ value }) => value)
    }),

    budgetOf: Effect.fn("Accounts.spending.budgetOf")(function*(id: ApiKey.KeyId) {
      const at = yield* DateTime.now
      return Option.map(
        Option.fromUndefinedOr((yield* find([id], at)).get(id)),
        ({ budget, spending }) => ({ budget, used: KeySpending.usedAt(spending, at) })
      )
    }),

    usedBy: Effect.fn("Accounts.spending.usedBy")(function*(keys: ReadonlyArray<ApiKey.ApiKey>) {
      const at = yield* DateTime.now
      const limited = new Set(keys.filter(({ budget }) => !isUnlimited(budget)).map(({ line }) => line))
      const lines = limited.size === 0 ? linesOf([]) : yield* find(Array.from(limited), at)
      return new Map(Array.from(lines, ([id, { spending }]) => [id, KeySpending.usedAt(spending, at)] as const))
    }),

    deleteOld: Effect.fn("Accounts.spending.deleteOld")(function*(limit: number) {
      const before = DateTime.subtractDuration(yield* DateTime.now, marginOfMonths)
      return yield* store.deleteSpending(KeySpending.monthStartOf(KeySpending.dayOf(before)), limit)
    })
  }
  return spending
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long the spending of a month is kept after its end, so that a host whose clock is late still finds it. */
const marginOfMonths = "1 day"

const linesOf = (found: ReadonlyArray<KeySpending.KeyLine>): KeySpending.KeyLines =>
  new Map(found.map((line) => [line.id, line]))
