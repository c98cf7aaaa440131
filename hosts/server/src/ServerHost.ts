/** The server: serves the HTTP interface, runs jobs and sends webhooks. */
import { Catalog, type Model } from "@kinora/catalog"
import { DemoAccount, Host, Http, OperatorListener, type Settings, SignInLinks } from "@kinora/hosting"
import { Effect, Option, type Redacted } from "effect"

/** State of a server that accepts requests. */
export interface Ready {
  readonly baseUrl: string
  /** Origin of the listener for operators; `None` if it is off. */
  readonly operatorUrl: Option.Option<string>
  /** Key of the demo account; `None` if the account is disabled or its key is in another host's data directory. */
  readonly apiKey: Option.Option<Redacted.Redacted>
  /** Sign-in links for the person who has started the server; none if nobody reads its output. */
  readonly signInLinks: SignInLinks.StartLinks
  /** Whether the files of the console are built. */
  readonly isConsoleBuilt: boolean
  /** Models on sale. */
  readonly models: ReadonlyArray<Model.Model>
}

/** Options for `layer`. */
export interface ServerOptions {
  /** Whether to create sign-in links: only if a person reads the output, since logs must not contain them. */
  readonly isInteractive: boolean
}

/** The server with these settings. `onReady` runs once it accepts requests and the demo account exists. */
export const layer = (
  settings: Settings.Settings,
  onReady: (ready: Ready) => Effect.Effect<void>,
  { isInteractive }: ServerOptions = { isInteractive: false }
) =>
  Host.layerServer(
    settings,
    Effect.fnUntraced(function*(listening) {
      const apiKey = settings.demoAccount ? yield* DemoAccount.ensure(settings.dataDirectory) : Option.none()
      const { list: models } = yield* Catalog.Catalog
      const operatorUrl = yield* OperatorListener.OperatorOrigin
      const baseUrl = settings.baseUrl ?? listening
      const isConsoleBuilt = Http.isConsoleBuilt()
      const signInLinks = isInteractive && isConsoleBuilt
        ? yield* SignInLinks.make({ settings, clientUrl: baseUrl, operatorUrl, apiKey })
        : SignInLinks.none
      yield* onReady({ baseUrl, operatorUrl, apiKey, signInLinks, isConsoleBuilt, models })
    })
  )
