/** The worker: runs jobs of the database that it shares with servers, and sends webhooks. */
import { Host, OperatorListener, type Settings } from "@kinora/hosting"
import { Data, Effect, Layer, type Option } from "effect"

/** The settings name no Postgres. An embedded database belongs to one process. */
export class NoSharedDatabase extends Data.TaggedError("NoSharedDatabase")<{}> {
  override get message(): string {
    return "A worker requires the database of a server: set KINORA_DATABASE_URL to a Postgres URL"
  }
}

/** The worker with these settings. `onReady` gets the origin of the listener for operators, and runs once it claims jobs. */
export const layer = (
  settings: Settings.Settings,
  onReady: (operatorUrl: Option.Option<string>) => Effect.Effect<void>
) =>
  Layer.unwrap(
    settings.databaseUrl === undefined
      ? Effect.fail(new NoSharedDatabase())
      : Effect.succeed(
        Layer.effectDiscard(Effect.flatMap(OperatorListener.OperatorOrigin, onReady)).pipe(
          Layer.provide(Host.layerWorker(settings))
        )
      )
  )
