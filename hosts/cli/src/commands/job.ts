/** `kinora job`. */
import type { AdminGeneration, AdminGenerationDetail } from "@kinora/http-api/AdminGeneration"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Operator } from "../Operator.ts"
import * as Output from "../Output.ts"
import { account, idOf } from "./accountArgument.ts"
import { given, optionalDate, optionalText } from "./flags.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { page, pageQuery, showList } from "./page.ts"

const job = Argument.String("job").pipe(Argument.withDescription("Id of the job, gen_…"))

/** Renders the charge of a job. */
const costOf = ({ cost_credits, quota_kind, refunded }: AdminGeneration): string => {
  const cost = cost_credits === null ? `1 ${quota_kind} of the daily quota` : `${cost_credits} credits`
  return refunded ? `${cost}, refunded` : cost
}

const propertiesOf = (job: AdminGeneration): ReadonlyArray<readonly [name: string, value: string]> => [
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
]

/** Shows a job. */
const show = (job: AdminGeneration) => Output.show(job, Output.properties(propertiesOf(job)))

/** Renders the place of a job in the queue. */
const runOf = ({ run }: AdminGenerationDetail): string => {
  if (run === null) return "-"
  return run.worker === null ? run.state : `${run.state}, attempt ${run.attempt}, ${run.worker}`
}

/** Renders the attempt of a step, its event, or the attempt to send it. */
const detailOf = ({ attempt: run, webhook }: AdminGenerationDetail["timeline"][number]): string => {
  if (run !== null) return `attempt ${run.number}, ${run.worker}`
  if (webhook === null) return "-"
  const { attempt, endpoint_id, reason, type } = webhook
  return endpoint_id === null ? type : `${type} to ${endpoint_id}, attempt ${attempt}: ${reason}`
}

/** Renders the deliveries of the events of a job. */
const deliveriesOf = ({ deliveries }: AdminGenerationDetail): string =>
  Output.table(deliveries, [
    { title: "DELIVERY", value: ({ id }) => id },
    { title: "ENDPOINT", value: ({ endpoint_id }) => endpoint_id },
    { title: "EVENT", value: ({ type }) => type },
    { title: "STATUS", value: ({ status }) => status },
    { title: "FAILED", value: ({ failed_sends }) => failed_sends, isNumber: true },
    { title: "NEXT", value: ({ due_at }) => Output.time(due_at) }
  ], "")

/** Shows a job, its steps, and the deliveries of its events. */
const showDetail = (job: AdminGenerationDetail) =>
  Output.show(
    job,
    [
      Output.properties([...propertiesOf(job), ["queue", runOf(job)]]),
      Output.table(job.timeline, [
        { title: "TIME", value: ({ at }) => Output.time(at) },
        { title: "STEP", value: ({ step }) => step },
        { title: "CREDITS", value: ({ amount }) => amount ?? "-", isNumber: true },
        { title: "DETAIL", value: detailOf }
      ], ""),
      ...job.deliveries.length === 0 ? [] : [deliveriesOf(job)]
    ].join("\n\n")
  )

const status = Flag.Literals("status", ["pending", "queued", "processing", "completed", "failed", "cancelled"]).pipe(
  Flag.optional
)

/** The columns of lists of jobs that show how far each of them is. */
const progressColumns: ReadonlyArray<Output.Column<AdminGeneration>> = [
  { title: "STATUS", value: ({ status }) => status },
  { title: "CREATED", value: ({ created_at }) => Output.time(created_at) },
  { title: "ENDED", value: ({ finished_at }) => Output.time(finished_at) },
  { title: "ERROR", value: ({ error }) => error?.code ?? "-" }
]

const list = operatorCommand(
  "list",
  "List the jobs of an account, newest first",
  {
    account,
    status,
    ...page("jobs")
  },
  Effect.fnUntraced(function*(operator, { account, cursor, limit, status }) {
    const page = yield* operator.generations.listGenerations({
      params: { id: yield* idOf(operator, account) },
      query: {
        ...given({ status }),
        ...pageQuery({ cursor, limit })
      }
    })
    yield* showList(page, [
      { title: "JOB", value: ({ id }) => id },
      { title: "MODEL", value: ({ model }) => model },
      { title: "PLAN", value: ({ plan }) => plan },
      ...progressColumns
    ], "No job matches.")
  })
)

const search = operatorCommand(
  "search",
  "Search the jobs of all accounts, newest first",
  {
    account: optionalText("account", "Id or e-mail address of the account"),
    status,
    model: optionalText("model", "Id of the model"),
    after: optionalDate("after", "Created at this time or later, such as 2027-01-31"),
    before: optionalDate("before", "Created before this time"),
    ...page("jobs")
  },
  Effect.fnUntraced(function*(operator, { account, after, before, cursor, limit, model, status }) {
    const page = yield* operator.generations.searchGenerations({
      query: {
        ...Option.isSome(account) && { account: yield* idOf(operator, account.value) },
        ...given({
          status,
          model,
          created_after: Option.map(after, DateTime.fromDateUnsafe),
          created_before: Option.map(before, DateTime.fromDateUnsafe)
        }),
        ...pageQuery({ cursor, limit })
      }
    })
    yield* showList(page, [
      { title: "JOB", value: ({ id }) => id },
      { title: "ACCOUNT", value: ({ account }) => account },
      { title: "MODEL", value: ({ model }) => model },
      ...progressColumns
    ], "No job matches.")
  })
)

const get = operatorCommand(
  "get",
  "Show a job of any account",
  { job },
  Effect.fnUntraced(function*(operator, { job }) {
    yield* showDetail(yield* operator.generations.getGeneration({ params: { id: job } }))
  })
).pipe(Command.withAlias("show"))

/** A command that asks, changes a job, and shows it. */
const change = <E, R>(
  name: string,
  description: string,
  verb: string,
  run: (
    operator: Operator,
    request: { readonly params: { readonly id: string } }
  ) => Effect.Effect<AdminGeneration, E, R>
) =>
  operatorCommand(
    name,
    description,
    { job },
    Effect.fnUntraced(function*(operator, { job }) {
      yield* confirm(`${verb} ${job}?`)
      yield* show(yield* run(operator, { params: { id: job } }))
    })
  )

const cancel = change(
  "cancel",
  "Cancel a job that has not started, and refund it",
  "Cancel",
  ({ generations }, request) => generations.cancelGeneration(request)
)

const fail = change(
  "fail",
  "Fail a job that has not ended, and refund it",
  "Fail",
  ({ generations }, request) => generations.failGeneration(request)
)

const requeue = change(
  "requeue",
  "Take a job from its worker, and queue it again",
  "Requeue",
  ({ generations }, request) => generations.requeueGeneration(request)
)

/** Commands for the jobs of all accounts. */
export const jobCommand = Command.make("job").pipe(
  Command.withDescription("List, search, show, cancel, fail and requeue jobs of any account"),
  Command.withSubcommands([list, search, get, cancel, fail, requeue])
)
