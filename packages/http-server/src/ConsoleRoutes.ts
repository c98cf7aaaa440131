/**
 * The API of the console and its pages as one layer of routes. `HttpServerRoutes` and `OperatorRoutes` contain it, because a session
 * works on the listener that has started it. Without `console` it has no routes.
 */
import type { Accounts } from "@kinora/accounts"
import type { Catalog } from "@kinora/catalog"
import type { Generations, GenerationStore } from "@kinora/generations"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import type { Ledger } from "@kinora/ledger"
import type { AuditLog, Operators } from "@kinora/operators"
import type { UnitOfWork } from "@kinora/persistence"
import type { Places, RateLimit } from "@kinora/rate-limit"
import type { Scheduler } from "@kinora/scheduler"
import type { Members, Sessions } from "@kinora/sessions"
import type { UrlSigner } from "@kinora/storage"
import type { Webhooks } from "@kinora/webhooks"
import { Layer } from "effect"
import type { Digest, SecureRandom } from "effect/crypto"
import { HttpApiBuilder } from "effect/http-api"
import { defaults, type HttpServerOptions, type ServerRequirements } from "./HttpServerOptions.ts"
import * as ConsoleAuthentication from "./middleware/consoleAuthentication.ts"
import * as SchemaErrors from "./middleware/schemaErrors.ts"
import { Suspensions } from "./middleware/suspensions.ts"
import * as DocumentRoute from "./routes/console/document.ts"
import * as KeyRoutes from "./routes/console/keys.ts"
import * as MemberRoutes from "./routes/console/members.ts"
import * as PageRoutes from "./routes/console/pages.ts"
import * as ReportRoutes from "./routes/console/reports.ts"
import * as SessionRoutes from "./routes/console/session.ts"
import * as SessionsRoutes from "./routes/console/sessions.ts"
import * as SignInRoutes from "./routes/console/signIn.ts"
import * as ViewRoutes from "./routes/console/view.ts"
import * as WebhookRoutes from "./routes/console/webhooks.ts"

/** The services that the routes need. */
export type Requirements =
  | Accounts.Accounts
  | AuditLog.AuditLog
  | Catalog.Catalog
  | Digest.Digest
  | Generations.Generations
  | GenerationStore.GenerationStore
  | Ledger.Ledger
  | Members.Members
  | Operators.Operators
  | Places.Places
  | RateLimit.RateLimit
  | Scheduler.Scheduler
  | SecureRandom.SecureRandom
  | Sessions.Sessions
  | UnitOfWork.UnitOfWork
  | UrlSigner.UrlSigner
  | Webhooks.Webhooks
  | ServerRequirements

/** The routes with these options. */
export const layerWith = (options: Partial<HttpServerOptions>): Layer.Layer<never, never, Requirements> => {
  const all = { ...defaults, ...options }
  if (!all.console) return Layer.empty
  const api = HttpApiBuilder.layer(ConsoleApi).pipe(
    Layer.provide([
      SessionRoutes.layer(all),
      SignInRoutes.layer(all),
      SessionsRoutes.layer,
      KeyRoutes.layer,
      MemberRoutes.layer(all),
      WebhookRoutes.layer(all),
      ReportRoutes.layer(all),
      ViewRoutes.layer
    ]),
    Layer.provide(Suspensions.layer),
    Layer.provide([
      SchemaErrors.layer,
      ConsoleAuthentication.layer(all),
      ConsoleAuthentication.layerWithKey(all),
      ConsoleAuthentication.layerSameOrigin(all)
    ])
  )
  return Layer.mergeAll(api, DocumentRoute.layer, PageRoutes.layer(all))
}
