/**
 * The operator API as one layer of routes. Add it to `HttpServerRoutes` with the
 * same options, unless `OperatorRoutes`, which contains it, is served. Without `adminToken` it has no routes, so every path below `/admin` is
 * unknown.
 */
import type { Accounts } from "@kinora/accounts"
import type { Catalog } from "@kinora/catalog"
import type {
  AccountDeletion,
  Checkouts,
  Generations,
  GenerationStore,
  ModelPauses,
  ModelStatuses,
  PlanChanges,
  UpstreamReports
} from "@kinora/generations"
import { AdminApi } from "@kinora/http-api/AdminApi"
import type { Ledger } from "@kinora/ledger"
import type { AuditLog, Operators } from "@kinora/operators"
import type { UnitOfWork } from "@kinora/persistence"
import type { RateLimit } from "@kinora/rate-limit"
import type { Scheduler } from "@kinora/scheduler"
import type { Members, Sessions } from "@kinora/sessions"
import type { UrlSigner } from "@kinora/storage"
import type { Webhooks } from "@kinora/webhooks"
import { Layer } from "effect"
import type { Digest } from "effect/crypto"
import { HttpApiBuilder } from "effect/http-api"
import { defaults, type HttpServerOptions, type ServerRequirements } from "./HttpServerOptions.ts"
import * as AdminAuthentication from "./middleware/adminAuthentication.ts"
import * as SchemaErrors from "./middleware/schemaErrors.ts"
import * as AccountRoutes from "./routes/admin/accounts.ts"
import * as AuditRoutes from "./routes/admin/audit.ts"
import * as DocumentRoute from "./routes/admin/document.ts"
import * as GenerationRoutes from "./routes/admin/generations.ts"
import * as KeyRoutes from "./routes/admin/keys.ts"
import * as LedgerRoutes from "./routes/admin/ledger.ts"
import * as MemberRoutes from "./routes/admin/members.ts"
import * as ModelRoutes from "./routes/admin/models.ts"
import * as OperatorRoutes from "./routes/admin/operators.ts"
import * as PlanRoutes from "./routes/admin/plans.ts"
import * as QueueRoutes from "./routes/admin/queue.ts"
import * as SessionRoutes from "./routes/admin/sessions.ts"
import * as SignInLinkRoutes from "./routes/admin/signInLinks.ts"
import * as SystemRoutes from "./routes/admin/system.ts"
import * as WalletRoutes from "./routes/admin/wallet.ts"
import * as WebhookRoutes from "./routes/admin/webhooks.ts"

/** The services that the routes need. */
export type Requirements =
  | AccountDeletion.AccountDeletion
  | Accounts.Accounts
  | AuditLog.AuditLog
  | Catalog.Catalog
  | Checkouts.Checkouts
  | Digest.Digest
  | Generations.Generations
  | GenerationStore.GenerationStore
  | Ledger.Ledger
  | ModelPauses.ModelPauses
  | ModelStatuses.ModelStatuses
  | Members.Members
  | Operators.Operators
  | PlanChanges.PlanChanges
  | RateLimit.RateLimit
  | Scheduler.Scheduler
  | Sessions.Sessions
  | UnitOfWork.UnitOfWork
  | UpstreamReports.UpstreamReports
  | UrlSigner.UrlSigner
  | Webhooks.Webhooks
  | ServerRequirements

/** The routes with these options. */
export const layerWith = (options: Partial<HttpServerOptions>): Layer.Layer<never, never, Requirements> => {
  const all = { ...defaults, ...options }
  if (all.adminToken === undefined) return Layer.empty
  const api = HttpApiBuilder.layer(AdminApi).pipe(
    Layer.provide([
      AccountRoutes.layer,
      KeyRoutes.layer,
      MemberRoutes.layer(all),
      PlanRoutes.layer,
      WalletRoutes.layer,
      GenerationRoutes.layer,
      QueueRoutes.layer,
      ModelRoutes.layer,
      LedgerRoutes.layer,
      WebhookRoutes.layer(all),
      OperatorRoutes.layer,
      AuditRoutes.layer,
      SignInLinkRoutes.layer(all),
      SessionRoutes.layer(all),
      SystemRoutes.layer(all)
    ]),
    Layer.provide([SchemaErrors.layer, AdminAuthentication.layer(all, all.adminToken)])
  )
  return Layer.mergeAll(api, DocumentRoute.layer)
}
