/**
 * A whole host in this process, on a real socket, whose jobs are made by a generator
 * of the test's own: for results that the drivers of the product do not make, and
 * for limits that its settings do not have.
 */
import type { PlanTable } from "@kinora/accounts"
import type { ModelInput } from "@kinora/catalog/Model"
import { type Generator, Generators } from "@kinora/generator"
import { Host, Http, Notifications, Services, Settings, Stores, Webhook, Work } from "@kinora/hosting"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import type { Site } from "./Site.ts"

/** See each member. */
export interface LocalHostOptions {
  /** What is served. Every model names the driver `local`. */
  readonly models: ReadonlyArray<ModelInput>
  /** Makes the jobs of all models. */
  readonly generator: Layer.Layer<Generator.Generator>
  /** Whose database and files it has. Default: everything is in this process's memory. */
  readonly site?: Site | undefined
  /** Jobs at once. Default 4. */
  readonly workers?: number | undefined
  /** Limits of the interface. */
  readonly http?: Http.InterfaceOptions | undefined
  /** What tiers allow. Default: what the interface says. */
  readonly planTable?: PlanTable.PlanTable | undefined
}

/** The host with all of its services, until the layer's scope closes. `baseUrl` says where it listens. */
export const layer = (options: LocalHostOptions) => {
  const { generator, http, workers = 4 } = options
  return Http.layer({ host: "127.0.0.1", port: 0, interface: { docs: false, ...http }, grace: 0 }).pipe(
    Layer.provide(Readiness.layerAlways),
    Layer.provide(UrlSigner.layer({ keys: [Redacted.make("acceptance-acceptance-acceptance-acceptance")] })),
    Layer.provideMerge(Work.layerWorker({ name: "local", concurrency: workers, grace: 0 })),
    Layer.provideMerge(servicesOf(options)),
    Layer.provide(Generators.layer({ local: generator })),
    Layer.fresh
  )
}

/** Where the host listens. */
export const baseUrl: Effect.Effect<string, never, HttpServer.HttpServer> = HttpServer.addressFormattedWith(
  Effect.succeed
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What both kinds of host have. */
type Shared = Layer.Success<ReturnType<typeof inMemory>> & Layer.Success<ReturnType<typeof onSite>>
type Failure = Layer.Error<ReturnType<typeof inMemory>> | Layer.Error<ReturnType<typeof onSite>>

const servicesOf = (options: LocalHostOptions): Layer.Layer<Shared, Failure> =>
  options.site === undefined ? inMemory(options) : onSite(options, options.site)

const inMemory = ({ models, planTable }: LocalHostOptions) =>
  Services.layer({ models, planTable }).pipe(
    Layer.provideMerge(Layer.mergeAll(
      BlobStore.layerMemory,
      Notifications.layerLocal,
      Stores.layerMemory,
      Webhook.layerProtection({ keys: [Redacted.make("acceptance-acceptance-acceptance-acceptance")] })
    ))
  )

const onSite = ({ models, planTable }: LocalHostOptions, { environment }: Site) =>
  Layer.unwrap(
    Effect.map(
      Settings.load(environment),
      (settings) => Host.layer({ ...settings, models, planTable: planTable ?? settings.planTable })
    )
  )
