/** `kinora audit`. */
import { DateTime, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { operatorCommand } from "./operatorCommand.ts"

const list = operatorCommand(
  "list",
  "List the changes that operators made, newest first",
  {
    actor: Flag.String("actor").pipe(
      Flag.withDescription("Id of the operator, or owner for KINORA_ADMIN_TOKEN"),
      Flag.optional
    ),
    action: Flag.String("action").pipe(
      Flag.withDescription("The operation, such as accounts.suspendAccount"),
      Flag.optional
    ),
    subject: Flag.String("subject").pipe(Flag.withDescription("Id of the changed object"), Flag.optional),
    since: Flag.Date("since").pipe(Flag.withDescription("From this time on, such as 2027-01-31"), Flag.optional),
    until: Flag.Date("until").pipe(Flag.withDescription("Before this time"), Flag.optional),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("Maximum number of entries"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
      Flag.withDefault(20)
    ),
    cursor: Flag.String("cursor").pipe(Flag.withDescription("next_cursor of the page before"), Flag.optional)
  },
  Effect.fnUntraced(function*(operator, { action, actor, cursor, limit, since, subject, until }) {
    const page = yield* operator.audit.listAudit({
      query: {
        limit,
        ...Option.isSome(actor) && { actor: actor.value },
        ...Option.isSome(action) && { action: action.value },
        ...Option.isSome(subject) && { subject: subject.value },
        ...Option.isSome(since) && { since: DateTime.fromDateUnsafe(since.value) },
        ...Option.isSome(until) && { until: DateTime.fromDateUnsafe(until.value) },
        ...Option.isSome(cursor) && { cursor: cursor.value }
      }
    })
    const table = Output.table(page.data, [
      { title: "TIME", value: ({ at }) => Output.time(at) },
      { title: "ACTOR", value: ({ actor }) => actor },
      { title: "ROLE", value: ({ role }) => role ?? "-" },
      { title: "ACTION", value: ({ action }) => action },
      { title: "SUBJECT", value: ({ subject }) => subject ?? "-" },
      { title: "ADDRESS", value: ({ address }) => address },
      { title: "BEFORE", value: ({ before }) => valueOf(before) },
      { title: "AFTER", value: ({ after }) => valueOf(after) }
    ], "No change matches.")
    yield* Output.show(page, page.next_cursor === null ? table : `${table}\nMore: --cursor ${page.next_cursor}`)
  })
)

/** Reads the audit log. */
export const auditCommand = Command.make("audit").pipe(
  Command.withDescription("List the changes that operators made"),
  Command.withSubcommands([list])
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const valueOf = (value: Schema.Json): string => value === null ? "-" : JSON.stringify(value)
