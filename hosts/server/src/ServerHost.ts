/** The server: the interface over HTTP, and a worker in the same process unless it is told to have none. */
import { DemoAccount, Host, Http, Keys, ProcessMetrics, type Settings, Webhook, Work } from "@kinora/hosting"
import { UrlSigner } from "@kinora/storage"
import { Deferred, Effect, Layer, Option, type Redacted } from "effect"
import { HttpServer } from "effect/http"
import { hostname } from "node:os"

/** What is to be said once the server takes requests. */
export interface Ready {
  readonly baseUrl: string
  /** Of the demo account; `None` when there is none to show: it is switched off, or its key was shown to another host. */
  readonly apiKey: Option.Option<Redacted.Redacted>
}

/** Everything, on these settings. `onReady` runs when requests are taken. */
export const layer = (settings: Settings.Settings, onReady: (ready: Ready) => Effect.Effect<void>) =>
  Layer.unwrap(Effect.gen(function*() {
    const origin = yield* Deferred.make<string>()
    return Layer.effectDiscard(announce(settings, origin, onReady)).pipe(
      // The server is built last and stops first; the workers drain while requests end, so their graces are one (D51).
      Layer.provide(layerHttp(settings)),
      Layer.provideMerge(layerWork(settings, Deferred.await(origin))),
      Layer.provide(Layer.mergeAll(Http.layerReadiness, layerSigner(settings))),
      Layer.provideMerge(settings.metrics ? ProcessMetrics.layer : Layer.empty),
      Layer.provide(Host.layerWorking(settings))
    )
  }))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerSigner = (settings: Settings.Settings) =>
  Layer.unwrap(Effect.map(Keys.urlSigning(settings), (keys) => UrlSigner.layer({ keys })))

const layerWork = (settings: Settings.Settings, origin: Effect.Effect<string>) =>
  Layer.mergeAll(
    Work.layerWorker({
      name: `${hostname()}/server`,
      concurrency: settings.workers,
      resultTtl: settings.resultTtl
    }),
    Webhook.layerWorker({ sends: settings.webhookSends, baseUrl: settings.baseUrl ?? origin }).pipe(
      Layer.provide(Webhook.layerTransport)
    ),
    Work.layerSweeps
  )

const layerHttp = (settings: Settings.Settings) =>
  Layer.unwrap(Effect.map(Effect.all([Work.startDrain, Webhook.startDrain]), (drains) =>
    Http.layer({
      host: settings.host,
      port: settings.port,
      interface: Http.interfaceOf(settings),
      drain: settings.drain,
      onStop: Effect.all(drains, { discard: true })
    })))

/** Says where the server listens: to those who wait for its address first, since making the account takes a while. */
const announce = Effect.fnUntraced(function*(
  settings: Settings.Settings,
  origin: Deferred.Deferred<string>,
  onReady: (ready: Ready) => Effect.Effect<void>
) {
  const listening = yield* HttpServer.addressFormattedWith(Effect.succeed)
  yield* Deferred.succeed(origin, listening)
  const apiKey = settings.demoAccount ? yield* DemoAccount.ensure(settings.dataDirectory) : Option.none()
  yield* onReady({ baseUrl: settings.baseUrl ?? listening, apiKey })
})
