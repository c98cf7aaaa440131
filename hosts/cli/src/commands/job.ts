/** `kinora job`. */
import type { AdminGeneration } from "@kinora/http-api/AdminGeneration"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"

const job = Argument.String("job").pipe(Argument.withDescription("Id of the job, gen_…"))

/** Renders the charge of a job. */
const costOf = ({ cost_credits, quota_kind, refunded }: AdminGeneration): string => {
  const cost = cost_credits === null ? `1 ${quota_kind} of the daily quota` : `${cost_credits} credits`
  return refunded ? `${cost}, refunded` : cost
}

/** Shows a job. */
const show = (job: AdminGeneration) =>
  Output.show(
    job,
    Output.properties([
      ["job", job.id],
      ["account", job.account],
      ["model", job.model],
      ["mode", job.mode],
      ["prompt", job.prompt ?? "-"],
      ["charged", `${job.plan}: ${costOf(job)}`],
      ["status", job.status],
      ["created", Output.time(job.created_at)],
      ["started", Output.time(job.started_at)],
      ["ended", Output.time(job.finished_at)],
      ["error", job.error === null ? "-" : `${job.error.code}: ${job.error.message}`],
      ["result until", Output.time(job.result_expires_at)]
    ])
  )

const list = operatorCommand(
  "list",
  "List the jobs of an account, newest first",
  {
    account,
    status: Flag.Literals("status", ["pending", "queued", "processing", "completed", "failed", "cancelled"]).pipe(
      Flag.optional
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("Maximum number of jobs"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
      Flag.withDefault(20)
    ),
    cursor: Flag.String("cursor").pipe(Flag.withDescription("next_cursor of the page before"), Flag.optional)
  },
  Effect.fnUntraced(function*(operator, { account, cursor, limit, status }) {
    const page = yield* operator.generations.listGenerations({
      params: { id: yield* idOf(operator, account) },
      query: {
        limit,
        ...Option.match(status, { onNone: () => ({}), onSome: (status) => ({ status }) }),
        ...Option.match(cursor, { onNone: () => ({}), onSome: (cursor) => ({ cursor }) })
      }
    })
    const table = Output.table(page.data, [
      { title: "JOB", value: ({ id }) => id },
      { title: "MODEL", value: ({ model }) => model },
      { title: "PLAN", value: ({ plan }) => plan },
      { title: "STATUS", value: ({ status }) => status },
      { title: "CREATED", value: ({ created_at }) => Output.time(created_at) },
      { title: "ENDED", value: ({ finished_at }) => Output.time(finished_at) },
      { title: "ERROR", value: ({ error }) => error?.code ?? "-" }
    ], "No job matches.")
    yield* Output.show(page, page.next_cursor === null ? table : `${table}\nMore: --cursor ${page.next_cursor}`)
  })
)

const get = operatorCommand(
  "get",
  "Show a job of any account",
  { job },
  Effect.fnUntraced(function*(operator, { job }) {
    yield* show(yield* operator.generations.getGeneration({ params: { id: job } }))
  })
)

const cancel = operatorCommand(
  "cancel",
  "Cancel a job that has not started, and refund it",
  { job },
  Effect.fnUntraced(function*(operator, { job }) {
    yield* confirm(`Cancel ${job}?`)
    yield* show(yield* operator.generations.cancelGeneration({ params: { id: job } }))
  })
)

/** Commands for the jobs of all accounts. */
export const jobCommand = Command.make("job").pipe(
  Command.withDescription("List, show and cancel jobs of any account"),
  Command.withSubcommands([list, get, cancel])
)
