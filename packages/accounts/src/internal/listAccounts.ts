/** Listing accounts. */
import { Effect, Option } from "effect"
import { AccountId, type AccountSearch, emailKey, isPartOfEmail } from "../Account.ts"
import { AccountStore } from "../AccountStore.ts"

/** Creates `Accounts.list`. */
export const makeList = Effect.map(
  AccountStore,
  ({ findAccount, listAccounts }) =>
    Effect.fn("Accounts.list")(function*({ after: before, limit, search = "", status }: AccountSearch) {
      const id = AccountId.parse(search)
      if (id !== undefined) {
        const found = Option.toArray(yield* findAccount(id))
        return found.filter((account) =>
          (status === undefined || account.status === status) && (before === undefined || account.id < before)
        )
      }
      return isPartOfEmail(search) ? yield* listAccounts({ emailKeyPart: emailKey(search), status, before, limit }) : []
    })
)
