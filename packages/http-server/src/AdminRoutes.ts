/**
 * The interface for operators (D50) as routes. A host that serves `HttpServerRoutes`
 * adds these with the same options; without `adminToken` there are none, and every
 * path below `/admin` is answered like any unknown one.
 */
import type { Accounts } from "@kinora/accounts"
import type { GenerationStore } from "@kinora/generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import type { Ledger } from "@kinora/ledger"
import type { UnitOfWork } from "@kinora/persistence"
import type { RateLimit } from "@kinora/rate-limit"
import type { Webhooks } from "@kinora/webhooks"
import { type FileSystem, Layer, type Path } from "effect"
import type { Digest } from "effect/crypto"
import type { Etag, HttpPlatform, HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { defaults, type HttpServerOptions } from "./HttpServerOptions.ts"
import * as Accounting from "./internal/admin/accounts.ts"
import * as Authentication from "./internal/admin/authentication.ts"
import * as Document from "./internal/admin/document.ts"
import * as Keys from "./internal/admin/keys.ts"
import * as Books from "./internal/admin/ledger.ts"
import * as Plans from "./internal/admin/plans.ts"
import * as WebhookEndpoints from "./internal/admin/webhooks.ts"
import * as SchemaErrors from "./internal/schemaErrors.ts"

/** What the routes are built on. The last line is what `HttpServer.layerServices` and every server provide. */
export type Requirements =
  | Accounts.Accounts
  | Digest.Digest
  | GenerationStore.GenerationStore
  | Ledger.Ledger
  | RateLimit.RateLimit
  | UnitOfWork.UnitOfWork
  | Webhooks.Webhooks
  | HttpRouter.HttpRouter
  | Etag.Generator
  | FileSystem.FileSystem
  | HttpPlatform.HttpPlatform
  | Path.Path

/** All routes, with these options. */
export const layerWith = (options: Partial<HttpServerOptions>): Layer.Layer<never, never, Requirements> => {
  const all = { ...defaults, ...options }
  if (all.adminToken === undefined) return Layer.empty
  const api = HttpApiBuilder.layer(AdminApi).pipe(
    Layer.provide([Accounting.layer, Keys.layer, Plans.layer, Books.layer, WebhookEndpoints.layer]),
    Layer.provide([SchemaErrors.layer, Authentication.layer(all, all.adminToken)])
  )
  return Layer.mergeAll(api, Document.layer)
}
