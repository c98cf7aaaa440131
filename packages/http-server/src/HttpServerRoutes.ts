/**
 * The API for clients as one layer of routes: authentication, limits, error envelopes,
 * handlers and file streams. With `operatorRoutes`, the default, it has `/readyz` and
 * `/metrics` too; otherwise `OperatorRoutes` serves them on a listener that the public
 * does not reach.
 *
 * Serve it with `HttpRouter.serve`, or in memory with `HttpRouter.toWebHandler`. Disable
 * the router's access log with `disableLogger: true`, because it costs more than a request.
 */
import type { Catalog } from "@kinora/catalog"
import type { Callbacks, Checkouts, Generations, ModelStatuses, Uploads } from "@kinora/generations"
import { Api, ClientApi } from "@kinora/http-api/Api"
import type { Ledger } from "@kinora/ledger"
import type { Budget, Places } from "@kinora/rate-limit"
import type { BlobStore, UrlSigner } from "@kinora/storage"
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as ConsoleRoutes from "./ConsoleRoutes.ts"
import { defaults, type HttpServerOptions } from "./HttpServerOptions.ts"
import * as Authentication from "./middleware/authentication.ts"
import * as Edge from "./middleware/edge.ts"
import { clientRoutes } from "./middleware/routeTable.ts"
import * as SchemaErrors from "./middleware/schemaErrors.ts"
import { Suspensions } from "./middleware/suspensions.ts"
import type { Readiness } from "./Readiness.ts"
import * as AccountRoutes from "./routes/account.ts"
import * as CallbackRoutes from "./routes/callbacks.ts"
import * as ConsolePages from "./routes/console/pages.ts"
import * as ContentRoutes from "./routes/content.ts"
import * as DirectRoutes from "./routes/directRoutes.ts"
import * as DocumentRoutes from "./routes/documents.ts"
import * as GenerationRoutes from "./routes/generations.ts"
import * as HealthRoutes from "./routes/health.ts"
import * as ImageRoutes from "./routes/images.ts"
import * as ModelRoutes from "./routes/models.ts"
import * as PaymentWebhookRoutes from "./routes/paymentWebhooks.ts"
import * as ProbeRoutes from "./routes/probes.ts"
import * as UploadRoutes from "./routes/uploads.ts"

/** The services that the routes need. */
export type Requirements =
  | BlobStore.BlobStore
  | Budget.Budget
  | Callbacks.Callbacks
  | Catalog.Catalog
  | Checkouts.Checkouts
  | Generations.Generations
  | Ledger.Ledger
  | ModelStatuses.ModelStatuses
  | Places.Places
  | Readiness
  | Uploads.Uploads
  | UrlSigner.UrlSigner
  | ConsoleRoutes.Requirements

/** The routes with these options. */
export const layerWith = (options: Partial<HttpServerOptions>): Layer.Layer<never, never, Requirements> => {
  const all = { ...defaults, ...options }
  const { operatorRoutes } = all
  const authentication = Authentication.Authentication.layerWith(all)
  const api = (operatorRoutes ? HttpApiBuilder.layer(Api) : HttpApiBuilder.layer(ClientApi)).pipe(
    Layer.provide([
      GenerationRoutes.layer(all),
      ContentRoutes.layer(all),
      ImageRoutes.layer(all),
      UploadRoutes.layer(all),
      ModelRoutes.layer,
      AccountRoutes.layer(all),
      HealthRoutes.layer,
      HealthRoutes.layerMonitoring(all)
    ]),
    Layer.provide([SchemaErrors.layer, Authentication.layerBearer, Authentication.layerContent(all)])
  )
  const routes = Layer.mergeAll(
    api,
    CallbackRoutes.layer(all),
    PaymentWebhookRoutes.layer(all),
    ProbeRoutes.layer(all),
    DocumentRoutes.layerDocument(all),
    ConsoleRoutes.layerWith(all),
    Edge.layer(all, clientRoutes(all), DirectRoutes.make(all))
  ).pipe(Layer.provide([authentication, Suspensions.layer]))
  if (all.docs) return Layer.mergeAll(routes, DocumentRoutes.layerPage(all))
  return all.console ? Layer.mergeAll(routes, ConsolePages.layerRoot(all)) : routes
}

/** The routes with the default options. */
export const layer: Layer.Layer<never, never, Requirements> = layerWith({})
