/** `kinora audit`. */
import { DateTime, Effect, Option, type Schema } from "effect"
import { Command } from "effect/cli"
import * as Output from "../Output.ts"
import { given, optionalDate, optionalText } from "./flags.ts"
import { operatorCommand } from "./operatorCommand.ts"
import { page, pageQuery, showList } from "./page.ts"

const list = operatorCommand(
  "list",
  "List the changes that operators made, newest first",
  {
    actor: optionalText("actor", "Id of the operator, or owner for KINORA_ADMIN_TOKEN"),
    action: optionalText("action", "The operation, such as accounts.suspendAccount"),
    subject: optionalText("subject", "Id of the changed object"),
    since: optionalDate("since", "From this time on, such as 2027-01-31"),
    until: optionalDate("until", "Before this time"),
    ...page("entries")
  },
  Effect.fnUntraced(function*(operator, { action, actor, cursor, limit, since, subject, until }) {
    const page = yield* operator.audit.listAudit({
      query: {
        ...given({
          actor,
          action,
          subject,
          since: Option.map(since, DateTime.fromDateUnsafe),
          until: Option.map(until, DateTime.fromDateUnsafe)
        }),
        ...pageQuery({ cursor, limit })
      }
    })
    yield* showList(page, [
      { title: "TIME", value: ({ at }) => Output.time(at) },
      { title: "ACTOR", value: ({ actor }) => actor },
      { title: "ROLE", value: ({ role }) => role ?? "-" },
      { title: "ACTION", value: ({ action }) => action },
      { title: "SUBJECT", value: ({ subject }) => subject ?? "-" },
      { title: "ADDRESS", value: ({ address }) => address },
      { title: "BEFORE", value: ({ before }) => valueOf(before) },
      { title: "AFTER", value: ({ after }) => valueOf(after) }
    ], "No change matches.")
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
