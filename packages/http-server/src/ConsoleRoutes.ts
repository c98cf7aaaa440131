/**
 * The API of the console and its pages as one layer of routes. `HttpServerRoutes` and `OperatorRoutes` contain it, because a session
 * works on the listener that has started it. Without `console` it has no routes.
 */
import type { Accounts } from "@kinora/accounts"
import { ConsoleApi } from "@kinora/http-api/ConsoleApi"
import type { AuditLog, Operators } from "@kinora/operators"
import type { UnitOfWork } from "@kinora/persistence"
import type { RateLimit } from "@kinora/rate-limit"
import type { Sessions } from "@kinora/sessions"
import { Layer } from "effect"
import type { Digest } from "effect/crypto"
import { HttpApiBuilder } from "effect/http-api"
import { defaults, type HttpServerOptions, type ServerRequirements } from "./HttpServerOptions.ts"
import * as ConsoleAuthentication from "./middleware/consoleAuthentication.ts"
import * as SchemaErrors from "./middleware/schemaErrors.ts"
import * as DocumentRoute from "./routes/console/document.ts"
import * as PageRoutes from "./routes/console/pages.ts"
import * as SessionRoutes from "./routes/console/session.ts"
import * as SessionsRoutes from "./routes/console/sessions.ts"

/** The services that the routes need. */
export type Requirements =
  | Accounts.Accounts
  | AuditLog.AuditLog
  | Digest.Digest
  | Operators.Operators
  | RateLimit.RateLimit
  | Sessions.Sessions
  | UnitOfWork.UnitOfWork
  | ServerRequirements

/** The routes with these options. */
export const layerWith = (options: Partial<HttpServerOptions>): Layer.Layer<never, never, Requirements> => {
  const all = { ...defaults, ...options }
  if (!all.console) return Layer.empty
  const api = HttpApiBuilder.layer(ConsoleApi).pipe(
    Layer.provide([SessionRoutes.layer(all), SessionsRoutes.layer]),
    Layer.provide([
      SchemaErrors.layer,
      ConsoleAuthentication.layer(all),
      ConsoleAuthentication.layerSameOrigin(all)
    ])
  )
  return Layer.mergeAll(api, DocumentRoute.layer, PageRoutes.layer(all))
}
