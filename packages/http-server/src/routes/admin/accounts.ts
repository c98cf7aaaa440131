/** Accounts in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { answers, parseId } from "../../middleware/refusals.ts"
import { toWire } from "../../wire/adminAccount.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "accounts",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts

    /** Suspends or resumes an account. */
    const change = (operation: "suspend" | "resume") =>
      answers(["AccountNotFound"], function*({ params }: { readonly params: { readonly id: string } }) {
        const account = yield* accounts[operation](yield* parseId(Account.AccountId.parse, params.id))
        yield* Effect.logInfo(`An operator ${past[operation]} an account`, { account: account.id })
        return toWire(account)
      })

    return handlers.handleAll({
      createAccount: answers(["EmailInvalid", "EmailTaken"], function*({ payload }) {
        const account = yield* accounts.create(payload)
        yield* Effect.logInfo("An operator created an account", { account: account.id })
        return toWire(account)
      }),

      getAccount: answers(["AccountNotFound"], function*({ params }) {
        return toWire(yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id)))
      }),

      suspendAccount: change("suspend"),
      resumeAccount: change("resume")
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const past = { suspend: "suspended", resume: "resumed" }
