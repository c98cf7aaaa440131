/** The server: the interface over HTTP, and a worker in the same process unless it is told to have none. */
import { DemoAccount, Host, Http, Keys, ProcessMetrics, type Settings, Work } from "@kinora/hosting"
import { UrlSigner } from "@kinora/storage"
import { Effect, Layer, Option, type Redacted } from "effect"
import { HttpServer } from "effect/http"
import { hostname } from "node:os"

/** What is to be said once the server takes requests. */
export interface Ready {
  readonly baseUrl: string
  /** Of the demo account; `None` when there is none to show: it is switched off, or its key was shown to another host. */
  readonly apiKey: Option.Option<Redacted.Redacted>
}

/** Everything, on these settings. `onReady` runs when requests are taken. */
export const layer = (settings: Settings.Settings, onReady: (ready: Ready) => Effect.Effect<void>) => {
  const work = Layer.mergeAll(
    Work.layerWorker({
      name: `${hostname()}/server`,
      concurrency: settings.workers,
      resultTtl: settings.resultTtl
    }),
    Work.layerSweeps
  )
  const signer = Layer.unwrap(
    Effect.map(Keys.urlSigning(settings), (keys) => UrlSigner.layer({ keys }))
  )
  const http = Layer.unwrap(Effect.map(
    Work.startDrain,
    (onStop) =>
      Http.layer({
        host: settings.host,
        port: settings.port,
        interface: Http.interfaceOf(settings),
        drain: settings.drain,
        onStop
      })
  ))
  return Layer.effectDiscard(announce(settings, onReady)).pipe(
    // The server is built last and stops first; the worker drains while requests end, so the two graces are one (D51).
    Layer.provide(http),
    Layer.provide(Layer.mergeAll(Http.layerReadiness, signer)),
    Layer.provideMerge(work),
    Layer.provideMerge(settings.metrics ? ProcessMetrics.layer : Layer.empty),
    Layer.provide(Host.layerWorking(settings))
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const announce = Effect.fnUntraced(function*(
  settings: Settings.Settings,
  onReady: (ready: Ready) => Effect.Effect<void>
) {
  const apiKey = settings.demoAccount ? yield* DemoAccount.ensure(settings.dataDirectory) : Option.none()
  const listening = yield* HttpServer.addressFormattedWith(Effect.succeed)
  yield* onReady({ baseUrl: settings.baseUrl ?? listening, apiKey })
})
