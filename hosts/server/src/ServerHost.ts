/** The server: serves the HTTP interface, runs jobs and sends webhooks. */
import { Catalog, type Model } from "@kinora/catalog"
import { DemoAccount, Host, type Settings } from "@kinora/hosting"
import { Effect, Option, type Redacted } from "effect"

/** State of a server that accepts requests. */
export interface Ready {
  readonly baseUrl: string
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
      yield* onReady({ baseUrl: settings.baseUrl ?? listening, apiKey, models })
    })
  )
