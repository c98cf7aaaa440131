/** A worker without the interface: it takes jobs of the database that it shares with servers. */
import { Host, type Settings, Work } from "@kinora/hosting"
import { Data, Effect, Layer } from "effect"
import { hostname } from "node:os"

/** An embedded database has room for one process. */
export class NoSharedDatabase extends Data.TaggedError("NoSharedDatabase")<{}> {
  override get message(): string {
    return "A worker shares the database of a server: set KINORA_DATABASE_URL to a Postgres"
  }
}

/** Everything, on these settings. `onReady` runs when jobs are taken. */
export const layer = (settings: Settings.Settings, onReady: Effect.Effect<void>) => {
  const work = Layer.mergeAll(
    Work.layerWorker({
      name: `${hostname()}/worker/${process.pid}`,
      concurrency: settings.workers,
      resultTtl: settings.resultTtl
    }),
    Work.layerSweeps
  )
  const host = Layer.effectDiscard(onReady).pipe(
    Layer.provide(work),
    Layer.provide(Host.layerWorking(settings))
  )
  return Layer.unwrap(
    settings.databaseUrl === undefined ? Effect.fail(new NoSharedDatabase()) : Effect.succeed(host)
  )
}
