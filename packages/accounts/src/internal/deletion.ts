/** Deleting, restoring and erasing accounts. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option } from "effect"
import type { AccountId } from "../Account.ts"
import { AccountStore } from "../AccountStore.ts"
import * as Plan from "../Plan.ts"
import { type AccountChanges, isDeleted, refuseDeleted } from "./accountChanges.ts"

/** Creates the methods of `Accounts` for deletion. */
export const makeDeletion = Effect.fnUntraced(function*({ lock }: AccountChanges) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork

  return {
    remove: Effect.fn("Accounts.remove")(function*(id: AccountId) {
      const account = yield* lock(id)
      if (isDeleted(account)) return account
      const deletedAt = yield* DateTime.now
      yield* store.saveStatus(id, "deleted", deletedAt)
      yield* store.revokeKeys(id, deletedAt)
      yield* store.savePlan(id, "studio", Option.none())
      yield* store.savePlan(id, "credits", Option.none())
      return { ...account, status: "deleted" as const, plans: Plan.none, deletedAt }
    }, atomically),

    restore: Effect.fn("Accounts.restore")(function*(id: AccountId) {
      const { deletedAt: _, ...account } = yield* lock(id)
      if (account.status === "erased") return yield* refuseDeleted(account)
      if (account.status !== "deleted") return account
      yield* store.saveStatus(id, "active")
      return { ...account, status: "active" as const }
    }, atomically),

    erasable: Effect.fn("Accounts.erasable")(function*(age: Duration.Input, limit: number) {
      return yield* store.findDeleted(DateTime.subtractDuration(yield* DateTime.now, age), limit)
    }),

    erase: Effect.fn("Accounts.erase")(function*(id: AccountId) {
      const { status } = yield* lock(id)
      if (status === "deleted") yield* store.erase(id)
    }, atomically)
  }
})
