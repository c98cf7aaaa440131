/**
 * The interface of `@kinora/http-api` as routes: authentication, limits, envelopes,
 * handlers and content streams in one layer.
 *
 * A host serves it with `HttpRouter.serve`, or in memory with
 * `HttpRouter.toWebHandler`. Disable the router's access log there
 * (`disableLogger: true`): it costs more than a request.
 */
import type { Accounts } from "@kinora/accounts"
import type { Catalog } from "@kinora/catalog"
import type { Generations, Uploads } from "@kinora/generations"
import { Api } from "@kinora/http-api/Api"
import type { Ledger } from "@kinora/ledger"
import type { Budget, Places, RateLimit } from "@kinora/rate-limit"
import type { BlobStore, UrlSigner } from "@kinora/storage"
import { type FileSystem, Layer, type Path } from "effect"
import type { Digest } from "effect/crypto"
import type { Etag, HttpPlatform, HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { defaults, type HttpServerOptions } from "./HttpServerOptions.ts"
import * as AccountHandlers from "./internal/account.ts"
import * as Authentication from "./internal/authentication.ts"
import * as Content from "./internal/content.ts"
import * as Docs from "./internal/docs.ts"
import * as Edge from "./internal/edge.ts"
import * as GenerationsHandlers from "./internal/generations.ts"
import * as Health from "./internal/health.ts"
import * as Images from "./internal/images.ts"
import * as Models from "./internal/models.ts"
import * as SchemaErrors from "./internal/schemaErrors.ts"
import * as UploadsHandlers from "./internal/uploads.ts"
import type { Readiness } from "./Readiness.ts"

/** What the routes are built on. The last line is what `HttpServer.layerServices` and every server provide. */
export type Requirements =
  | Accounts.Accounts
  | BlobStore.BlobStore
  | Budget.Budget
  | Catalog.Catalog
  | Digest.Digest
  | Generations.Generations
  | Ledger.Ledger
  | Places.Places
  | RateLimit.RateLimit
  | Readiness
  | Uploads.Uploads
  | UrlSigner.UrlSigner
  | HttpRouter.HttpRouter
  | Etag.Generator
  | FileSystem.FileSystem
  | HttpPlatform.HttpPlatform
  | Path.Path

/** All routes, with these options. */
export const layerWith = (options: Partial<HttpServerOptions>): Layer.Layer<never, never, Requirements> => {
  const all = { ...defaults, ...options }
  const api = HttpApiBuilder.layer(Api).pipe(
    Layer.provide([
      GenerationsHandlers.layer(all),
      Content.layer(all),
      Images.layer(all),
      UploadsHandlers.layer(all),
      Models.layer,
      AccountHandlers.layer(all),
      Health.layer(all)
    ]),
    Layer.provide([SchemaErrors.layer, Authentication.layerBearer(all), Authentication.layerContent(all)])
  )
  const routes = Layer.mergeAll(api, Docs.layerDocument, Edge.layer(all))
  return all.docs ? Layer.mergeAll(routes, Docs.layerPage) : routes
}

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<never, never, Requirements> = layerWith({})
