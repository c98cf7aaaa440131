import { Process, Settings } from "@kinora/hosting"
import { Console, Data, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as WorkerHost from "./WorkerHost.ts"

/** An embedded database has room for one process. */
class NoSharedDatabase extends Data.TaggedError("NoSharedDatabase")<{}> {
  override get message(): string {
    return "A worker shares the database of a server: set KINORA_DATABASE_URL to a Postgres"
  }
}

const flags = {
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one line of JSON when ready: {\"workers\":…}"),
    Flag.withDefault(false)
  ),
  workers: Flag.Int("workers").pipe(
    Flag.withDescription("Jobs at once in this process (KINORA_WORKERS)"),
    Flag.optional
  )
}

const work = Command.make(
  "kinora-worker",
  flags,
  Effect.fn("work")(function*({ json, workers }) {
    const settings = yield* Settings.load({
      ...process.env,
      ...Option.match(workers, { onNone: () => ({}), onSome: (count) => ({ KINORA_WORKERS: String(count) }) })
    })
    if (settings.databaseUrl === undefined) return yield* new NoSharedDatabase()
    const ready = Layer.effectDiscard(Console.log(
      json
        ? JSON.stringify({ workers: settings.workers })
        : `The Kinora worker is ready for ${settings.workers} jobs at once.`
    ))
    return yield* Layer.launch(Layer.provide(ready, WorkerHost.layer(settings))).pipe(
      Effect.provide(Process.layerLogs(settings))
    )
  }, Process.explain)
).pipe(Command.withDescription("Runs Kinora jobs. Settings: KINORA_* variables and kinora.config.yaml."))

Process.runMain(work)
