/**
 * The context in which requests run.
 *
 * The framework starts each request with the context of the server, adds to it and copies it several times. Copies of all
 * services of the process would take about 6 % of the processor time of a request.
 */
import { Accounts, AccountStore } from "@kinora/accounts"
import { Catalog } from "@kinora/catalog"
import * as Generations from "@kinora/generations"
import { Idempotency, IdempotencyStore } from "@kinora/idempotency"
import { Ledger, LedgerStore } from "@kinora/ledger"
import { Media } from "@kinora/media"
import { Moderation } from "@kinora/moderation"
import { AuditLog, Operators, OperatorStore } from "@kinora/operators"
import { Payments, PaymentStore } from "@kinora/payments"
import { Budget, Places, RateLimit, RateLimitStore } from "@kinora/rate-limit"
import * as Scheduler from "@kinora/scheduler"
import { BlobStore, UrlSigner } from "@kinora/storage"
import * as Webhooks from "@kinora/webhooks"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"

/**
 * Makes the server run requests without the services of the process. Handlers and middleware take them when they are
 * made. A service that is not listed here only makes requests slower.
 */
export const layer: Layer.Layer<HttpServer.HttpServer, never, HttpServer.HttpServer> = Layer.effect(
  HttpServer.HttpServer,
  Effect.map(HttpServer.HttpServer, (server) => {
    const serve = (...args: Parameters<typeof server.serve>) =>
      Effect.updateContext(server.serve(...args), withoutServices)
    // The type is overloaded.
    return HttpServer.HttpServer.of({ ...server, serve: serve as typeof server.serve })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const withoutServices = Context.omit(
  Accounts.Accounts,
  AccountStore.AccountStore,
  AuditLog.AuditLog,
  BlobStore.BlobStore,
  Budget.Budget,
  Catalog.Catalog,
  Generations.AccountDeletion.AccountDeletion,
  Generations.Callbacks.Callbacks,
  Generations.Changes.Changes,
  Generations.Checkouts.Checkouts,
  Generations.Generations.Generations,
  Generations.GenerationStore.GenerationStore,
  Generations.GenerationSweep.GenerationSweep,
  Generations.ImageStore.ImageStore,
  Generations.ModelPauses.ModelPauses,
  Generations.ModelStatuses.ModelStatuses,
  Generations.PlanChanges.PlanChanges,
  Generations.PlanRenewal.PlanRenewal,
  Generations.Uploads.Uploads,
  Generations.UpstreamReports.UpstreamReports,
  Idempotency.Idempotency,
  IdempotencyStore.IdempotencyStore,
  Ledger.Ledger,
  LedgerStore.LedgerStore,
  Media.Media,
  Moderation.Moderation,
  Operators.Operators,
  OperatorStore.OperatorStore,
  Payments.Payments,
  PaymentStore.PaymentStore,
  Places.Places,
  RateLimit.RateLimit,
  RateLimitStore.RateLimitStore,
  Scheduler.Scheduler.Scheduler,
  Scheduler.SchedulerStore.SchedulerStore,
  Scheduler.Wakeup.Wakeup,
  Scheduler.Worker.Worker,
  UrlSigner.UrlSigner,
  Webhooks.SecretBox.SecretBox,
  Webhooks.Wakeup.Wakeup,
  Webhooks.Webhooks.Webhooks,
  Webhooks.WebhookStore.WebhookStore
)
