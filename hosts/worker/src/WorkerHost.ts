/** A worker without the interface: it takes jobs of the database that it shares with servers, and sends webhooks. */
import { Host, Http, Keys, type Settings, Webhook, Work } from "@kinora/hosting"
import { UrlSigner } from "@kinora/storage"
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
  const signer = Layer.unwrap(Effect.map(Keys.urlSigning(settings), (keys) => UrlSigner.layer({ keys })))
  const work = Layer.mergeAll(
    Work.layerWorker({
      name: `${hostname()}/worker/${process.pid}`,
      concurrency: settings.workers,
      resultTtl: settings.resultTtl
    }),
    // Links are for a server to answer.
    Webhook.layerWorker({
      sends: settings.webhookSends,
      baseUrl: settings.baseUrl ?? Effect.succeed(Http.originOf(settings))
    }).pipe(Layer.provide([Webhook.layerTransport, signer])),
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
