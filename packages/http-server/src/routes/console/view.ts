/** The view of an account by an operator. See docs/reference/console-api.md#view-an-account. */
import { Account, Accounts } from "@kinora/accounts"
import { CurrentConsoleSession } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import { OperatorRole, permits } from "@kinora/http-api/RequestPolicy"
import { AuditLog } from "@kinora/operators"
import { UnitOfWork } from "@kinora/persistence"
import { Sessions } from "@kinora/sessions"
import { DateTime, Effect, Option, Schema } from "effect"
import { currentSession } from "../../middleware/consoleAuthentication.ts"
import { currentRequest } from "../../middleware/currentRequest.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(
  ConsoleApi,
  "view",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const sessions = yield* Sessions.Sessions
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const audit = yield* makeAudit

    return handlers.handleAll({
      startView: answers(["AccountNotFound", "SessionNotFound"], function*({ payload }) {
        const { role } = yield* CurrentConsoleSession
        if (!isOperatorRole(role) || !permits(role, "support")) {
          return yield* refuse("role_missing", { details: { role: "support" } })
        }
        const { email, id, status } = yield* accounts.get(yield* parseId(Account.AccountId.parse, payload.account))
        if (status === "suspended") return yield* refuse("account_suspended")
        if (status !== "active") return yield* refuse("account_deleted", { details: { erased: status === "erased" } })
        const session = yield* currentSession
        return yield* atomically(Effect.gen(function*() {
          const { until } = yield* sessions.startView(session, id)
          yield* audit("view.startView", id, { until: DateTime.formatIso(until) })
          yield* Effect.logInfo("An operator views an account", { account: id })
          return { account: { id, email }, until }
        }))
      }),

      endView: answers([], function*() {
        const session = yield* currentSession
        if (Option.isNone(session.view)) return
        const { account } = session.view.value
        yield* atomically(Effect.andThen(sessions.endView(session), audit("view.endView", account, null)))
      })
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isOperatorRole = Schema.is(OperatorRole)

/** Makes the function that records the start and the end of a view. */
const makeAudit = Effect.map(AuditLog.AuditLog, ({ append }) =>
  Effect.fnUntraced(function*(
    action: "view.startView" | "view.endView",
    subject: string,
    after: { readonly until: string } | null
  ) {
    const { operator, role } = yield* CurrentConsoleSession
    if (operator === undefined || !isOperatorRole(role)) return
    const { id, request } = yield* currentRequest
    yield* append({
      actor: operator,
      role,
      address: Option.getOrElse(request.remoteAddress, () => "unknown"),
      requestId: id,
      action,
      subject,
      before: null,
      after
    })
  }))
