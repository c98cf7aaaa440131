/** Commands that need no service: they run hosts, prepare their database, and read their settings. */
import { serverCommand } from "@kinora/host-server/command"
import { workerCommand } from "@kinora/host-worker/command"
import { Drivers, Host, Moderation, Oidc, Process, Settings } from "@kinora/hosting"
import { returnFreedMemory } from "@kinora/hosting/FreedMemory"
import { Console, Effect, Layer, type Option } from "effect"
import * as Output from "./Output.ts"
import { Json } from "./Settings.ts"

type Workers = Option.Option<number>

/** Runs a server until a signal stops it. */
export const serve = (workers: Workers) => run(serverCommand, workers)

/** Runs a worker until a signal stops it. */
export const work = (workers: Workers) => run(workerCommand, workers)

/** Brings the schema of the database up to date. */
export const migrate = Effect.gen(function*() {
  const schemas = yield* Process.runOnce(Host.migrate)
  yield* Output.show({ schemas }, `The schema is up to date: ${schemas.join(", ")}.`)
})

/** Validates the settings, the models, the drivers, the moderation and the identity providers, without the database. */
export const check = Effect.gen(function*() {
  yield* Process.runOnce(({ driverFile, models, moderation, oidc }) =>
    Effect.scoped(
      Effect.all([
        Moderation.fromFile(moderation),
        Oidc.fromFile(oidc),
        Layer.build(Drivers.layer({ driverFile, models }))
      ])
    )
  )
  yield* Output.show({ valid: true }, "The configuration is valid.")
})

/** Prints every setting, its value and where it comes from. Secrets are not printed. */
export const show = Effect.gen(function*() {
  const settings = yield* Process.explain(Settings.effective(process.env))
  yield* Output.show(
    { data: settings },
    Output.table(settings, [
      { title: "SETTING", value: ({ variable }) => variable },
      { title: "VALUE", value: ({ value }) => value ?? "-" },
      { title: "FROM", value: ({ source }) => source }
    ], "There are no settings.")
  )
})

/** Prints the JSON Schema of the configuration file. */
export const schema = Console.log(JSON.stringify(Settings.jsonSchema, undefined, 2))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const run = Effect.fnUntraced(function*<E>(host: Process.HostCommand<E>, workers: Workers) {
  returnFreedMemory()
  // A signal stops a host, which is not a failure of the command.
  process.exitCode = 0
  return yield* Process.run(host, { json: yield* Json, workers })
})
