/** Sessions of operators in the operator API. */
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Operator, Operators } from "@kinora/operators"
import { Session, Sessions } from "@kinora/sessions"
import { Effect, Option } from "effect"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { changes, note } from "../../middleware/changes.ts"
import * as People from "../../middleware/people.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import * as SignInLinks from "../../SignInLinks.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(AdminApi, "sessions", function*(handlers) {
    const operators = yield* Operators.Operators
    const sessions = yield* Sessions.Sessions
    const tokenOwner = options.adminToken === undefined ? undefined : yield* SignInLinks.ownerOf(options.adminToken)

    /** Returns the rights of the sessions of an operator, which may have ended. Their role does not matter here. */
    const grantOf = Effect.fnUntraced(function*(text: string) {
      if (text === "owner" && tokenOwner !== undefined) return grant(tokenOwner, "owner")
      // Operators of an identity provider have no record. All sessions of one have the same subject, whatever the role.
      if (People.operatorOf(text) !== undefined) return grant(text, "auditor")
      const { id, role } = yield* operators.get(yield* parseId(Operator.OperatorId.parse, text))
      return grant(id, role)
    })

    return handlers.handleAll({
      listOperatorSessions: answers(["OperatorNotFound"], function*({ params }) {
        return { data: (yield* sessions.list(yield* grantOf(params.id))).map(toWire) }
      }),

      endOperatorSessions: changes(["OperatorNotFound"], function*({ params }) {
        yield* sessions.endAll({ subject: Session.subjectOf(yield* grantOf(params.id)) })
        yield* Effect.logInfo("An operator ended the sessions of an operator", { operator: params.id })
      }),

      endOperatorSession: changes(["OperatorNotFound", "SessionNotFound"], function*({ params }) {
        const id = yield* parseId(Session.SessionId.parse, params.session_id)
        yield* sessions.end(yield* grantOf(params.id), id)
        yield* note({ after: { operator: params.id } })
        yield* Effect.logInfo("An operator ended a session of an operator", { operator: params.id, session: id })
      })
    })
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const grant = (operator: string, role: Operator.Role): Session.Grant => ({ scope: "operator", operator, role })

const toWire = ({ address, createdAt, device, expiresAt, id, idleUntil, seenAt }: Session.Session) => ({
  id,
  device: Option.getOrNull(device),
  address,
  created_at: createdAt,
  seen_at: seenAt,
  expires_at: expiresAt,
  idle_expires_at: idleUntil
})
