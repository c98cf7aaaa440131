/** `kinora operator`. */
import { type AdminNewOperator, operatorOverlapSecondsMax } from "@kinora/http-api/AdminOperator"
import { OperatorRole } from "@kinora/http-api/RequestPolicy"
import { DateTime, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { showList } from "./page.ts"
import { showSignInLink } from "./showSignInLink.ts"

const id = Argument.String("operator").pipe(Argument.withDescription("Id of the operator, opr_…"))

const owner = Argument.String("operator").pipe(
  Argument.withDescription("Id of the operator, opr_…, or owner for KINORA_ADMIN_TOKEN")
)

const showNew = (operator: AdminNewOperator) =>
  Output.show(
    operator,
    `${
      Output.properties([
        ["token", operator.token],
        ["id", operator.id],
        ["name", operator.name],
        ["role", operator.role],
        ["expires", Output.time(operator.expires_at)]
      ])
    }\nIt is not shown again.`
  )

const create = operatorCommand(
  "create",
  "Create an operator, whose token is printed this once",
  {
    name: Argument.String("name").pipe(Argument.withDescription("A name for people")),
    role: Flag.Literals("role", OperatorRole.literals).pipe(
      Flag.withDescription("auditor: reads; support: a few changes too; operator: all but operators; owner: everything")
    ),
    days: Flag.Int("days").pipe(
      Flag.withDescription("Days after which the token expires. Default: never"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_660 }))),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*(operator, { days, name, role }) {
    const { body } = yield* operator.operators.createOperator({
      payload: {
        name,
        role,
        ...Option.isSome(days) && { expires_at: DateTime.add(yield* DateTime.now, { days: days.value }) }
      }
    })
    yield* showNew(body)
  })
)

const list = operatorCommand(
  "list",
  "List the operators in use, then the revoked ones",
  {},
  Effect.fnUntraced(function*(operator) {
    const operators = yield* operator.operators.listOperators()
    yield* showList(operators, [
      { title: "OPERATOR", value: ({ id }) => id },
      { title: "NAME", value: ({ name }) => name },
      { title: "ROLE", value: ({ role }) => role },
      { title: "PREFIX", value: ({ prefix }) => prefix },
      { title: "CREATED", value: (operator) => Output.time(operator.created_at) },
      { title: "LAST USED", value: (operator) => Output.time(operator.last_used_at) },
      { title: "EXPIRES", value: (operator) => Output.time(operator.expires_at) },
      { title: "REVOKED", value: (operator) => Output.time(operator.revoked_at) }
    ], "The service has no operators besides KINORA_ADMIN_TOKEN.")
  })
)

const rotate = operatorCommand(
  "rotate",
  "Replace the token of an operator by a new one, which is printed this once",
  {
    id,
    overlap: Flag.Finite("overlap").pipe(
      Flag.withDescription("Hours for which the former token works"),
      Flag.withSchema(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: operatorOverlapSecondsMax / 3600 }))),
      Flag.withDefault(24)
    )
  },
  Effect.fnUntraced(function*(operator, { id, overlap }) {
    const { body } = yield* operator.operators.rotateOperator({
      params: { id },
      payload: { overlap_seconds: Math.round(overlap * 3600) }
    })
    yield* showNew(body)
  })
)

const revoke = operatorCommand(
  "revoke",
  "Revoke an operator, on every server at once",
  { id },
  Effect.fnUntraced(function*(operator, { id }) {
    yield* confirm(`Reject all requests of ${id}?`)
    yield* operator.operators.revokeOperator({ params: { id } })
    yield* Output.show({ id, revoked: true }, `${id} is revoked.`)
  })
)

const signInLink = operatorCommand(
  "sign-in-link",
  "Create a link with which an operator signs in to the console, once and within 10 minutes",
  { id: owner },
  Effect.fnUntraced(function*(operator, { id }) {
    const { body } = yield* operator.links.createOperatorSignInLink({ params: { id } })
    yield* showSignInLink(body)
  })
)

const sessions = operatorCommand(
  "sessions",
  "List the sessions of an operator in the console",
  { operator: owner },
  Effect.fnUntraced(function*(operator, { operator: id }) {
    const sessions = yield* operator.sessions.listOperatorSessions({ params: { id } })
    yield* showList(sessions, [
      { title: "SESSION", value: ({ id }) => id },
      { title: "ADDRESS", value: ({ address }) => address },
      { title: "SIGNED IN", value: (session) => Output.time(session.created_at) },
      { title: "LAST USED", value: (session) => Output.time(session.seen_at) },
      { title: "ENDS", value: (session) => Output.time(session.expires_at) },
      { title: "DEVICE", value: ({ device }) => device ?? "-" }
    ], "The operator has no sessions.")
  })
)

const endSession = operatorCommand(
  "end",
  "End a session of an operator, or all of them, on every server at once",
  {
    operator: owner,
    session: Argument.String("session").pipe(
      Argument.withDescription("Id of the session, ses_…. Default: all sessions of the operator"),
      Argument.optional
    )
  },
  Effect.fnUntraced(function*(operator, { operator: id, session }) {
    if (Option.isNone(session)) {
      yield* confirm(`Sign ${id} out everywhere?`)
      yield* operator.sessions.endOperatorSessions({ params: { id } })
      return yield* Output.show({ operator: id, ended: true }, `All sessions of ${id} have ended.`)
    }
    yield* confirm(`End the session ${session.value}?`)
    yield* operator.sessions.endOperatorSession({ params: { id, session_id: session.value } })
    yield* Output.show({ id: session.value, ended: true }, `${session.value} has ended.`)
  })
)

const sessionCommand = Command.make("session").pipe(
  Command.withDescription("End sessions of operators"),
  Command.withSubcommands([endSession])
)

/** Manages operators. */
export const operatorsCommand = Command.make("operator").pipe(
  Command.withDescription(
    "Create, list, rotate and revoke operators with roles, create sign-in links, and list and end sessions"
  ),
  Command.withSubcommands([create, list, rotate, revoke, signInLink, sessions, sessionCommand])
)
