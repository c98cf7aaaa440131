/** Operators in the operator API. */
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Operator, Operators } from "@kinora/operators"
import { Sessions } from "@kinora/sessions"
import { DateTime, Duration, Effect, Option, Redacted } from "effect"
import { changes, note } from "../../middleware/changes.ts"
import { answers, parseId } from "../../middleware/refusals.ts"
import { shownOnce } from "../../wire/shownOnce.ts"
import * as EndpointGroup from "../endpointGroup.ts"

/** The handlers. */
export const layer = EndpointGroup.make(AdminApi, "operators", function*(handlers) {
  const operators = yield* Operators.Operators
  const sessions = yield* Sessions.Sessions

  return handlers.handleAll({
    createOperator: changes(["NameInvalid", "ExpiryInvalid", "TooManyOperators"], function*({ payload }) {
      const { expires_at: expiresAt, name, role } = payload
      const created = yield* operators.create({ name, role, expiresAt })
      const { id } = created.operator
      yield* note({ subject: id, after: recordOf(created.operator) })
      yield* Effect.logInfo("An operator created an operator", { operator: id, role })
      return shownOnce(newToWire(created))
    }),

    listOperators: answers([], function*() {
      return { data: (yield* operators.list).map(toWire) }
    }),

    rotateOperator: changes(
      ["OperatorNotFound", "OperatorEnded", "OverlapInvalid"],
      function*({ params, payload: { overlap_seconds = overlapSeconds } }) {
        const id = yield* parseId(Operator.OperatorId.parse, params.id)
        const rotated = yield* operators.rotate(id, { overlap: Duration.seconds(overlap_seconds) })
        yield* note({ after: { overlap_seconds } })
        yield* Effect.logInfo("An operator rotated the token of an operator", { operator: id })
        return shownOnce(newToWire(rotated))
      }
    ),

    revokeOperator: changes(["OperatorNotFound"], function*({ params }) {
      const id = yield* parseId(Operator.OperatorId.parse, params.id)
      yield* note({ before: recordOf(yield* operators.get(id)) })
      yield* operators.revoke(id)
      yield* sessions.endAll({ subject: `operator:${id}` })
      yield* Effect.logInfo("An operator revoked an operator", { operator: id })
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** How long a rotated token works by default, in seconds. */
const overlapSeconds = 86_400

const recordOf = ({ expiresAt, name, role }: Operator.Operator) => ({
  name,
  role,
  expires_at: Option.getOrNull(Option.map(expiresAt, DateTime.formatIso))
})

const toWire = (operator: Operator.Operator) => ({
  id: operator.id,
  name: operator.name,
  role: operator.role,
  prefix: operator.prefix,
  created_at: operator.createdAt,
  expires_at: Option.getOrNull(operator.expiresAt),
  revoked_at: Option.getOrNull(operator.revokedAt),
  last_used_at: Option.getOrNull(operator.lastUsedAt),
  former_token_until: Option.getOrNull(operator.formerTokenUntil)
})

const newToWire = ({ operator, token }: Operators.NewToken) => ({
  ...toWire(operator),
  token: Redacted.value(token)
})
