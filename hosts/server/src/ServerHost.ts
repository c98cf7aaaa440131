/** The server: serves the HTTP interface, runs jobs and sends webhooks. */
import { Catalog, type Model } from "@kinora/catalog"
import { DemoAccount, Host, OperatorListener, type Settings } from "@kinora/hosting"
import { Effect, Option, type Redacted } from "effect"

/** State of a server that accepts requests. */
export interface Ready {
  readonly baseUrl: string
  /** Origin of the listener for operators; `None` if it is off. */
  readonly operatorUrl: Option.Option<string>
  /** Key of the demo account; `None` if the account is disabled or its key is in another host's data directory. */
  readonly apiKey: Option.Option<Redacted.Redacted>
  /** Models on sale. */
  readonly models: ReadonlyArray<Model.Model>
}

/** The server with these settings. `onReady` runs once it accepts requests and the demo account exists. */
export const layer = (settings: Settings.Settings, onReady: (ready: Ready) => Effect.Effect<void>) =>
  Host.layerServer(
    settings,
    Effect.fnUntraced(function*(listening) {
      const apiKey = settings.demoAccount ? yield* DemoAccount.ensure(settings.dataDirectory) : Option.none()
      const { list: models } = yield* Catalog.Catalog
      const operatorUrl = yield* OperatorListener.OperatorOrigin
      yield* onReady({ baseUrl: settings.baseUrl ?? listening, operatorUrl, apiKey, models })
    })
  )
