/** Accounts for operators. */
import { Accounts } from "@kinora/accounts"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { toWire } from "./accountView.ts"
import * as Refusals from "./refusals.ts"

/** The handlers. */
export const layer = HttpApiBuilder.group(
  AdminApi,
  "accounts",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    return handlers
      .handle(
        "createAccount",
        Effect.fnUntraced(
          function*({ payload }) {
            const account = yield* accounts.create(payload)
            yield* Effect.logInfo("An operator created an account", { account: account.id })
            return toWire(account)
          },
          Refusals.answer("EmailInvalid", "EmailTaken")
        )
      )
      .handle(
        "getAccount",
        Effect.fnUntraced(
          function*({ params }) {
            return toWire(yield* accounts.get(yield* Refusals.accountIdOf(params.id)))
          },
          Refusals.answer("AccountNotFound")
        )
      )
      .handle(
        "suspendAccount",
        Effect.fnUntraced(
          function*({ params }) {
            const account = yield* accounts.suspend(yield* Refusals.accountIdOf(params.id))
            yield* Effect.logInfo("An operator suspended an account", { account: account.id })
            return toWire(account)
          },
          Refusals.answer("AccountNotFound")
        )
      )
      .handle(
        "resumeAccount",
        Effect.fnUntraced(
          function*({ params }) {
            const account = yield* accounts.resume(yield* Refusals.accountIdOf(params.id))
            yield* Effect.logInfo("An operator resumed an account", { account: account.id })
            return toWire(account)
          },
          Refusals.answer("AccountNotFound")
        )
      )
  })
)
