/** The view of an account by an operator. See docs/reference/console-api.md#view-an-account. */
import { Account, Accounts } from "@kinora/accounts"
import { CurrentConsoleSession } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { OperatorRole, permits } from "@kinora/http-api/RequestPolicy"
import { Sessions } from "@kinora/sessions"
import { DateTime, Effect, Option, Schema } from "effect"
import { changes, note } from "../../middleware/changes.ts"
import { currentSession } from "../../middleware/consoleAuthentication.ts"
import { parseId } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(ConsoleApi, "view", function*(handlers) {
  const accounts = yield* Accounts.Accounts
  const sessions = yield* Sessions.Sessions

  return handlers.handleAll({
    startView: changes(["AccountNotFound", "SessionNotFound"], function*({ payload }) {
      const { role } = yield* CurrentConsoleSession
      if (!isOperatorRole(role) || !permits(role, "support")) {
        return yield* refuse("role_missing", { details: { role: "support" } })
      }
      const { email, id, status } = yield* accounts.get(yield* parseId(Account.AccountId.parse, payload.account))
      if (status === "suspended") return yield* refuse("account_suspended")
      if (status !== "active") return yield* refuse("account_deleted", { details: { erased: status === "erased" } })
      const { until } = yield* sessions.startView(yield* currentSession, id)
      yield* note({ subject: id, after: { until: DateTime.formatIso(until) } })
      yield* Effect.logInfo("An operator views an account", { account: id })
      return { account: { id, email }, until }
    }),

    endView: changes([], function*() {
      const session = yield* currentSession
      if (Option.isNone(session.view)) return yield* note({ unchanged: true })
      yield* sessions.endView(session)
      yield* note({ subject: session.view.value.account })
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isOperatorRole = Schema.is(OperatorRole)
