import { Process, Settings } from "@kinora/hosting"
import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as banner from "./banner.ts"
import * as ServerHost from "./ServerHost.ts"

const flags = {
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one line of JSON when ready: {\"base_url\":…,\"api_key\":…}"),
    Flag.withDefault(false)
  ),
  workers: Flag.Int("workers").pipe(
    Flag.withDescription("Jobs at once in this process; 0 serves the API only (KINORA_WORKERS)"),
    Flag.optional
  )
}

const serve = Command.make(
  "kinora-server",
  flags,
  Effect.fn("serve")(function*({ json, workers }) {
    const settings = yield* Settings.load({
      ...process.env,
      ...Option.match(workers, { onNone: () => ({}), onSome: (count) => ({ KINORA_WORKERS: String(count) }) })
    })
    const host = ServerHost.layer(
      settings,
      (ready) => Console.log(json ? banner.line(ready) : banner.page(ready, settings))
    )
    return yield* Layer.launch(host).pipe(Effect.provide(Process.layerLogs(settings)))
  }, Process.explain)
).pipe(Command.withDescription("Serves the Kinora API. Settings: KINORA_* variables and kinora.config.yaml."))

Process.runMain(serve)
