/** `kinora model`. */
import type { AdminModel } from "@kinora/http-api/AdminModel"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import * as Output from "../Output.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { cursor, limit, paged } from "./page.ts"

const model = Argument.String("model").pipe(Argument.withDescription("Id of the model"))

const tableOf = (models: ReadonlyArray<AdminModel>) =>
  Output.table(models, [
    { title: "MODEL", value: ({ id }) => id },
    { title: "KIND", value: ({ kind }) => kind },
    { title: "STATUS", value: ({ status }) => status },
    { title: "PAUSED", value: ({ paused_at }) => Output.time(paused_at) },
    { title: "UPSTREAMS", value: ({ upstreams }) => upstreams.join(", ") },
    { title: "FAILING", value: ({ reports }) => reports.map(({ upstream }) => upstream).join(", ") || "-" }
  ], "The service has no models.")

const list = operatorCommand(
  "list",
  "List the models, and the state of their upstreams",
  { limit: limit("models"), cursor },
  Effect.fnUntraced(function*(operator, { cursor, limit }) {
    const models = yield* operator.models.listModels({
      query: { limit, ...Option.isSome(cursor) && { cursor: cursor.value } }
    })
    yield* Output.show(models, paged(tableOf(models.data), models.next_cursor))
  })
)

const pause = operatorCommand(
  "pause",
  "Accept no new jobs of a model, and start none of its waiting ones",
  { model },
  Effect.fnUntraced(function*(operator, { model }) {
    yield* confirm(`Pause ${model}?`)
    const paused = yield* operator.models.pauseModel({ params: { id: model } })
    yield* Output.show(paused, tableOf([paused]))
  })
)

const resume = operatorCommand(
  "resume",
  "End the pause of a model",
  { model },
  Effect.fnUntraced(function*(operator, { model }) {
    const resumed = yield* operator.models.resumeModel({ params: { id: model } })
    yield* Output.show(resumed, tableOf([resumed]))
  })
)

/** Commands for models. */
export const modelCommand = Command.make("model").pipe(
  Command.withDescription("List, pause and resume models"),
  Command.withSubcommands([list, pause, resume])
)
