/** Deletes accounts: at once what gives access, and later their personal data. */
import type { PlanTable } from "@kinora/accounts"
import type { Account, AccountId } from "@kinora/accounts/Account"
import { Accounts, type Failure } from "@kinora/accounts/Accounts"
import { Sweep } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Scheduler } from "@kinora/scheduler/Scheduler"
import { Members } from "@kinora/sessions/Members"
import { Sessions } from "@kinora/sessions/Sessions"
import { Webhooks } from "@kinora/webhooks/Webhooks"
import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import type { Changes } from "./Changes.ts"
import { GenerationStore } from "./GenerationStore.ts"
import { makeApplySlots } from "./internal/planSlots.ts"

/** Deletion of accounts. */
export class AccountDeletion extends Context.Service<AccountDeletion, {
  /**
   * Deletes an account like `Accounts.remove`. One unit of work also removes its members and webhook endpoints, ends its
   * sessions, and removes the slots of its plans. Jobs that wait or run continue. Idempotent.
   */
  readonly delete: (account: AccountId) => Effect.Effect<Account, Failure>

  /**
   * Erases accounts that were deleted longer than `age` ago, up to `limit`, and returns their number: deletes their jobs
   * with their prompts, and what `Accounts.erase` erases. An account whose jobs have not ended, or still have files, is
   * erased by a later call; its files expire at once. Charges, usage and movements stay. Dies if `age` is below `keptMin`.
   */
  readonly erase: (age: Duration.Input, limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/generations/AccountDeletion") {}

/** How long a deleted account is kept at least, so that its uploads and its idempotency keys have expired. */
export const keptMin: Duration.Duration = Duration.days(2)

/** Services that the deletion requires. */
export type Requirements =
  | Accounts
  | Changes
  | GenerationStore
  | Members
  | Scheduler
  | Sessions
  | UnitOfWork
  | Webhooks

/** Options for `AccountDeletion.layerWith`. */
export interface AccountDeletionOptions {
  /** Slots of accounts without a plan. */
  readonly planTable: PlanTable.PlanTable
}

/** The deletion with these options. */
export const layerWith = (
  { planTable }: AccountDeletionOptions
): Layer.Layer<AccountDeletion, never, Requirements> =>
  Layer.effect(
    AccountDeletion,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const { atomically } = yield* UnitOfWork
      const applySlots = yield* makeApplySlots(planTable)
      const eraseOne = yield* makeEraseOne
      const removeEndpoints = yield* makeRemoveEndpoints
      const members = yield* Members
      const sessions = yield* Sessions

      const remove = Effect.fn("AccountDeletion.delete")(function*(id: AccountId) {
        const account = yield* accounts.remove(id)
        yield* removeEndpoints(id)
        yield* members.removeAll(id)
        yield* sessions.endAll({ account: id })
        // Lanes are locked last.
        yield* applySlots(id, "studio", Option.none())
        yield* applySlots(id, "credits", Option.none())
        return account
      }, atomically)

      const erase = Effect.fn("AccountDeletion.erase")(function*(age: Duration.Input, limit: number) {
        yield* checkKept(age)
        const erased = yield* Effect.forEach(yield* accounts.erasable(age, limit), eraseOne)
        return erased.filter((isErased) => isErased).length
      })

      return AccountDeletion.of({ delete: remove, erase })
    })
  )

/** Options for `AccountDeletion.layerSweep`. */
export interface AccountDeletionSweepOptions extends Sweep.LayerSweepOptions {
  /** How long deleted accounts can be restored, at least `keptMin`; `Duration.infinity`: forever. Default 30 days. */
  readonly kept?: Duration.Input | undefined
}

/** Erases deleted accounts in the background, by default 100 per call and every hour. Any number of hosts may run it. */
export const layerSweep = (
  { interval = "1 hour", kept = "30 days", limit = 100 }: AccountDeletionSweepOptions = {}
): Layer.Layer<never, never, AccountDeletion> =>
  Layer.merge(
    Layer.effectDiscard(checkKept(kept)),
    Sweep.layerAged({
      name: "deleted accounts",
      interval,
      limit,
      age: kept,
      run: (age, limit) => AccountDeletion.use(({ erase }) => erase(age, limit))
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum number of jobs that one statement deletes. */
const jobsMax = 500

const checkKept = (age: Duration.Input) =>
  Duration.isGreaterThanOrEqualTo(Duration.fromInputUnsafe(age), keptMin)
    ? Effect.void
    : Effect.die(new Error(`Deleted accounts must be kept for at least ${Duration.format(keptMin)}`))

/** Makes a function that removes the webhook endpoints of an account. */
const makeRemoveEndpoints = Effect.map(Webhooks, (webhooks) =>
  Effect.fnUntraced(function*(account: AccountId) {
    const endpoints = yield* webhooks.list(account)
    yield* Effect.forEach(endpoints, ({ id }) => webhooks.remove(account, id), { discard: true }).pipe(
      // Another call removes them.
      Effect.catchTag("WebhooksError", () => Effect.void)
    )
  }))

/**
 * Makes a function that erases an account, and returns whether nothing is left. The account is erased last, so that a
 * crash in between leaves it to the next call.
 */
const makeEraseOne = Effect.gen(function*() {
  const accounts = yield* Accounts
  const store = yield* GenerationStore
  const removeEndpoints = yield* makeRemoveEndpoints

  return Effect.fnUntraced(function*(account: AccountId) {
    yield* removeEndpoints(account)
    const now = yield* DateTime.now
    while ((yield* store.forget(account, now, jobsMax)) === jobsMax) { /* The next statement deletes more. */ }
    const [left] = yield* store.list(account, { limit: 1 })
    if (left !== undefined) return false
    yield* accounts.erase(account).pipe(
      // Accounts are never removed from the store.
      Effect.catchTag("AccountsError", Effect.die)
    )
    yield* Effect.logInfo("A deleted account was erased", { account })
    return true
  })
})
