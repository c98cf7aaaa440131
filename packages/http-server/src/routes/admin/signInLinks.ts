/** Sign-in links in the operator API. */
import { Account, Accounts } from "@kinora/accounts"
import { AdminApi } from "@kinora/http-api/AdminApi"
import { refuse } from "@kinora/http-api/ApiError"
import { Operator, Operators } from "@kinora/operators"
import { type Session, Sessions } from "@kinora/sessions"
import { DateTime, Effect } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { changes, note } from "../../middleware/changes.ts"
import { roleOf } from "../../middleware/consoleAuthentication.ts"
import { currentRequest } from "../../middleware/currentRequest.ts"
import { parseId } from "../../middleware/refusals.ts"
import * as SignInLinks from "../../SignInLinks.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(AdminApi, "links", function*(handlers) {
    const accounts = yield* Accounts.Accounts
    const operators = yield* Operators.Operators
    const sessions = yield* Sessions.Sessions
    const tokenOwner = options.adminToken === undefined ? undefined : yield* SignInLinks.ownerOf(options.adminToken)
    const checkConsole = options.console ? Effect.void : refuse("console_disabled")

    const create = Effect.fnUntraced(function*(grant: Session.Grant, origin: string) {
      const { code, expiresAt } = yield* sessions.createCode(grant)
      const role = roleOf(grant)
      yield* note({ after: { role } })
      return shownOnce({ url: SignInLinks.linkOf(origin, code), role, expires_at: expiresAt })
    })

    const grantOf = Effect.fnUntraced(function*(text: string) {
      if (text === "owner" && tokenOwner !== undefined) return grant(tokenOwner, "owner")
      const operator = yield* operators.get(yield* parseId(Operator.OperatorId.parse, text))
      if (!Operator.isActive(operator, yield* DateTime.now)) return yield* refuse("operator_ended")
      return grant(operator.id, operator.role)
    })

    return handlers.handleAll({
      createAccountSignInLink: changes(
        ["AccountNotFound", "TooManyCodes"],
        function*({ params, payload: { role = "member" } }) {
          yield* checkConsole
          const { id, status } = yield* accounts.get(yield* parseId(Account.AccountId.parse, params.id))
          if (status === "deleted" || status === "erased") {
            return yield* refuse("account_deleted", { details: { erased: status === "erased" } })
          }
          const { origin } = yield* currentRequest
          const link = yield* create(
            { scope: "account", account: id, role, member: null },
            options.consoleUrl ?? options.baseUrl ?? origin
          )
          yield* Effect.logInfo("An operator created a sign-in link of an account", { account: id, role })
          return link
        }
      ),

      createOperatorSignInLink: changes(["OperatorNotFound", "TooManyCodes"], function*({ params }) {
        yield* checkConsole
        const { origin } = yield* currentRequest
        const link = yield* create(yield* grantOf(params.id), origin)
        yield* Effect.logInfo("An operator created a sign-in link of an operator", { operator: params.id })
        return link
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const grant = (operator: string, role: Operator.Role): Session.Grant => ({ scope: "operator", operator, role })
