/**
 * A complete host in this process, on a real socket, with a generator of the test: for results that no driver makes,
 * and for limits that no setting offers.
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
import type { AnyStores } from "./stories/Backend.ts"

/** Options of a host. */
export interface LocalHostOptions {
  /** Models to serve. Each names the driver `local`. */
  readonly models: ReadonlyArray<ModelInput>
  /** Runs the jobs of all models. */
  readonly generator: Layer.Layer<Generator.Generator>
  /** Site whose database and files the host uses. Default: memory. */
  readonly site?: Site | undefined
  /** Stores the files of a host without a site. Default: memory. */
  readonly blobs?: Layer.Layer<BlobStore.BlobStore> | undefined
  /** The stores of a host without a site. Default: memory. */
  readonly stores?: Layer.Layer<AnyStores> | undefined
  /** Default: the host is always ready. */
  readonly readiness?: Layer.Layer<Readiness.Readiness> | undefined
  /** Maximum number of running jobs. Default 4. */
  readonly workers?: number | undefined
  /** Limits of the HTTP API. */
  readonly http?: Http.InterfaceOptions | undefined
  /** Limits of the tiers. Default: those of the contract. */
  readonly planTable?: PlanTable.PlanTable | undefined
}

/** The host with all its services, until the scope of the layer closes. `baseUrl` returns its address. */
export const layer = (options: LocalHostOptions) => {
  const { generator, http, readiness = Readiness.layerAlways, workers = 4 } = options
  return Http.layer({ host: "127.0.0.1", port: 0, interface: { docs: false, ...http }, grace: 0 }).pipe(
    Layer.provide(readiness),
    Layer.provide(UrlSigner.layer({ keys: [Redacted.make("acceptance-acceptance-acceptance-acceptance")] })),
    Layer.provideMerge(Work.layerWorker({ name: "local", concurrency: workers, grace: 0 })),
    Layer.provideMerge(servicesOf(options)),
    Layer.provide(Generators.layer({ local: generator })),
    Layer.fresh
  )
}

/** Address of the host. */
export const baseUrl: Effect.Effect<string, never, HttpServer.HttpServer> = HttpServer.addressFormattedWith(
  Effect.succeed
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Services of both kinds of host. */
type Shared = Layer.Success<ReturnType<typeof onStores>> & Layer.Success<ReturnType<typeof onSite>>
type Failure = Layer.Error<ReturnType<typeof onStores>> | Layer.Error<ReturnType<typeof onSite>>

const servicesOf = (options: LocalHostOptions): Layer.Layer<Shared, Failure> =>
  options.site === undefined ? onStores(options) : onSite(options, options.site)

const onStores = (
  { blobs = BlobStore.layerMemory, models, planTable, stores = Stores.layerMemory }: LocalHostOptions
) =>
  Services.layer({ models, planTable }).pipe(
    Layer.provideMerge(Layer.mergeAll(
      blobs,
      Notifications.layerLocal,
      stores,
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
