/** `kinora model`. */
import type { AdminModel } from "@kinora/http-api/AdminModel"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import * as Output from "../Output.ts"
import { confirm, operatorCommand } from "./operatorCommand.ts"
import { page, pageQuery, showList } from "./page.ts"

const model = Argument.String("model").pipe(Argument.withDescription("Id of the model"))

const columns: ReadonlyArray<Output.Column<AdminModel>> = [
  { title: "MODEL", value: ({ id }) => id },
  { title: "KIND", value: ({ kind }) => kind },
  { title: "STATUS", value: ({ status }) => status },
  { title: "PAUSED", value: ({ paused_at }) => Output.time(paused_at) },
  { title: "UPSTREAMS", value: ({ upstreams }) => upstreams.join(", ") },
  { title: "FAILING", value: ({ reports }) => reports.map(({ upstream }) => upstream).join(", ") || "-" }
]

const show = (model: AdminModel) => Output.show(model, Output.table([model], columns, ""))

const list = operatorCommand(
  "list",
  "List the models, and the state of their upstreams",
  page("models"),
  Effect.fnUntraced(function*(operator, { cursor, limit }) {
    const models = yield* operator.models.listModels({ query: pageQuery({ cursor, limit }) })
    yield* showList(models, columns, "The service has no models.")
  })
)

const pause = operatorCommand(
  "pause",
  "Accept no new jobs of a model, and start none of its waiting ones",
  { model },
  Effect.fnUntraced(function*(operator, { model }) {
    yield* confirm(`Pause ${model}?`)
    yield* show(yield* operator.models.pauseModel({ params: { id: model } }))
  })
)

const resume = operatorCommand(
  "resume",
  "End the pause of a model",
  { model },
  Effect.fnUntraced(function*(operator, { model }) {
    yield* show(yield* operator.models.resumeModel({ params: { id: model } }))
  })
)

/** Commands for models. */
export const modelCommand = Command.make("model").pipe(
  Command.withDescription("List, pause and resume models"),
  Command.withSubcommands([list, pause, resume])
)
