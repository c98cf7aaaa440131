/** `kinora queue`, and the commands of `kinora worker` for operators. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import * as Output from "../Output.ts"
import { idOf } from "./accountArgument.ts"
import { optionalText } from "./flags.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { page, pageQuery, showList } from "./page.ts"

const show = operatorCommand(
  "show",
  "Show how many jobs of each model wait and run",
  page("models"),
  Effect.fnUntraced(function*(operator, { cursor, limit }) {
    const queues = yield* operator.queue.getQueue({ query: pageQuery({ cursor, limit }) })
    yield* showList(queues, [
      { title: "MODEL", value: ({ model }) => model },
      { title: "KIND", value: ({ kind }) => kind ?? "-" },
      { title: "PENDING", value: ({ pending }) => pending, isNumber: true },
      { title: "QUEUED", value: ({ queued }) => queued, isNumber: true },
      { title: "PROCESSING", value: ({ processing }) => processing, isNumber: true },
      { title: "OLDEST", value: ({ oldest_wait_seconds: wait }) => wait === null ? "-" : `${wait} s`, isNumber: true },
      { title: "WORKERS", value: ({ workers }) => workers, isNumber: true }
    ], "The service has no models.")
  })
)

const lanes = operatorCommand(
  "lanes",
  "List the accounts with jobs that wait or run",
  {
    account: optionalText("account", "Id or e-mail address of the only account"),
    ...page("lanes")
  },
  Effect.fnUntraced(function*(operator, { account, cursor, limit }) {
    const page = yield* operator.queue.listLanes({
      query: {
        ...Option.isSome(account) && { account: yield* idOf(operator, account.value) },
        ...pageQuery({ cursor, limit })
      }
    })
    yield* showList(page, [
      { title: "ACCOUNT", value: ({ account }) => account },
      { title: "PLAN", value: ({ plan }) => plan },
      { title: "SLOTS", value: ({ slots }) => slots, isNumber: true },
      { title: "PENDING", value: ({ pending }) => pending, isNumber: true },
      { title: "QUEUED", value: ({ queued }) => queued, isNumber: true },
      { title: "PROCESSING", value: ({ processing }) => processing, isNumber: true }
    ], "No job waits or runs.")
  })
)

/** Commands for the queue. */
export const queueCommand = Command.make("queue").pipe(
  Command.withDescription("Show the jobs that wait and run, by model and by account"),
  Command.withSubcommands([show, lanes])
)

const listWorkers = operatorCommand(
  "list",
  "List the running workers of the service",
  page("workers"),
  Effect.fnUntraced(function*(operator, { cursor, limit }) {
    const page = yield* operator.queue.listWorkers({ query: pageQuery({ cursor, limit }) })
    yield* showList(page, [
      { title: "WORKER", value: ({ id }) => id },
      { title: "NAME", value: ({ name }) => name },
      { title: "STATUS", value: ({ status }) => status },
      { title: "JOBS", value: ({ concurrency, running_jobs }) => `${running_jobs}/${concurrency}`, isNumber: true },
      { title: "STARTED", value: ({ started_at }) => Output.time(started_at) },
      { title: "LEASE UNTIL", value: ({ lease_until }) => Output.time(lease_until) },
      { title: "MODELS", value: ({ models }) => models.join(", ") || "-" }
    ], "No worker runs.")
  })
)

const worker = Argument.String("worker").pipe(Argument.withDescription("Id of the worker, wrk_…"))

const drainWorker = operatorCommand(
  "drain",
  "Let a worker finish the jobs that it runs, and claim no more until it is resumed or its process starts again",
  { worker },
  Effect.fnUntraced(function*(operator, { worker }) {
    yield* confirm(`Drain ${worker}?`)
    yield* operator.queue.drainWorker({ params: { id: worker } })
    yield* Output.show({ id: worker }, `${worker} drains.`)
  })
)

const resumeWorker = operatorCommand(
  "resume",
  "Let a worker that was drained claim jobs again",
  { worker },
  Effect.fnUntraced(function*(operator, { worker }) {
    yield* operator.queue.resumeWorker({ params: { id: worker } })
    yield* Output.show({ id: worker }, `${worker} claims jobs again.`)
  })
)

/** Commands for the workers of a service. */
export const workerCommands = [listWorkers, drainWorker, resumeWorker] as const
