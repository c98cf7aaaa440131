/**
 * The use-cases and every domain service that they call, over stores of one kind. Hosts
 * and tests build on it instead of connecting the packages themselves.
 */
import { Accounts, MemoryAccountStore, PlanTable, SqlAccountStore } from "@kinora/accounts"
import { AddressGuard } from "@kinora/address-guard"
import { Catalog, DefaultModels } from "@kinora/catalog"
import { Idempotency, MemoryIdempotencyStore, SqlIdempotencyStore } from "@kinora/idempotency"
import { Ledger, MemoryLedgerStore, SqlLedgerStore } from "@kinora/ledger"
import { Media } from "@kinora/media"
import { Moderation } from "@kinora/moderation"
import { AuditLog, MemoryOperatorStore, Operators, SqlOperatorStore } from "@kinora/operators"
import { MemoryPaymentStore, PaymentProvider, Payments, SqlPaymentStore } from "@kinora/payments"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { MemoryRateLimitStore, Places, RateLimit, SqlRateLimitStore } from "@kinora/rate-limit"
import { MemorySchedulerStore, Scheduler, SqlSchedulerStore, Wakeup } from "@kinora/scheduler"
import { Members, MemorySessionStore, Sessions, SqlSessionStore } from "@kinora/sessions"
import { BlobStore } from "@kinora/storage"
import { MemoryWebhookStore, SecretBox, SqlWebhookStore, Wakeup as WebhookWakeup, Webhooks } from "@kinora/webhooks"
import { type Duration, Layer } from "effect"
import { Aead, Digest, SecureRandom } from "effect/crypto"
import * as AccountDeletion from "./AccountDeletion.ts"
import * as Callbacks from "./Callbacks.ts"
import * as Changes from "./Changes.ts"
import * as Checkouts from "./Checkouts.ts"
import * as CreditLots from "./CreditLots.ts"
import * as Generations from "./Generations.ts"
import * as GenerationSweep from "./GenerationSweep.ts"
import * as MemoryGenerationStore from "./MemoryGenerationStore.ts"
import * as ModelStatuses from "./ModelStatuses.ts"
import * as PlanChanges from "./PlanChanges.ts"
import * as PlanRenewal from "./PlanRenewal.ts"
import * as SqlGenerationStore from "./SqlGenerationStore.ts"
import * as Uploads from "./Uploads.ts"

/** Options for `Services.layer`. */
export interface ServicesOptions {
  /** Models of the catalog, as in a configuration file. Default: `DefaultModels.models`. Invalid models fail the layer. */
  readonly models?: unknown
  /** Parameters that clients can set, with their types. Models with others fail the layer. Default: any. */
  readonly params?: Catalog.CatalogOptions["params"]
  /** Slots, quotas and prices of the plan tiers. Default: `PlanTable.defaults`. */
  readonly planTable?: PlanTable.PlanTable | undefined
  /** Checks the input and the result of every job. Default: `Moderation.layerNone`, which accepts everything. */
  readonly moderation?: Layer.Layer<Moderation.Moderation> | undefined
  /** Collects payments of customers. Default: `PaymentProvider.layerNone`, with which operators book deposits. */
  readonly paymentProvider?: Layer.Layer<PaymentProvider.PaymentProvider> | undefined
  /** Limits of payments. Default: those of `Payments`. */
  readonly payments?: Payments.PaymentsOptions | undefined
  /** Limits of jobs. Default: the scheduler's. */
  readonly scheduler?: Scheduler.SchedulerOptions | undefined
  /** Times and limits of sessions. Default: those of `Sessions`. */
  readonly sessions?: Sessions.SessionsOptions | undefined
  /** Limits of the status of models. Default: those of `ModelStatuses`. */
  readonly statuses?: ModelStatuses.ModelStatusesOptions | undefined
  /** Limits of uploads. Default: those of `Uploads`. */
  readonly uploads?: Omit<Uploads.UploadsOptions, "inputPixelsPerMinute"> | undefined
  /** Limits of webhooks. Default: those of `Webhooks`. */
  readonly webhooks?: Webhooks.WebhooksOptions | undefined
  /** Maximum number of pixels of the input images of an account per calendar minute. Default: that of `Generations`. */
  readonly inputPixelsPerMinute?: number | undefined
  /**
   * Time for which a process may keep requests of the limits per minute that it took in advance (`RateLimitOptions.advance`).
   * Default 0, none.
   */
  readonly requestAdvance?: Duration.Input | undefined
}

/**
 * The services. Requires stores (`layerMemoryStores` or `layerSqlStores`), a
 * `BlobStore`, `Media`, the wake-ups (`Changes` and both `Wakeup`s; workers also `Callbacks`), `AddressGuard` and
 * `SecretBox` of webhooks, `SecureRandom` and `Digest`.
 */
export const layer = (options: ServicesOptions) => {
  const { models = DefaultModels.models, params, planTable = PlanTable.defaults, scheduler = {}, uploads = {} } =
    options
  const { inputPixelsPerMinute, moderation = Moderation.layerNone, requestAdvance, statuses = {}, webhooks = {} } =
    options
  const { paymentProvider = PaymentProvider.layerNone, payments = {}, sessions = {} } = options
  return Layer.mergeAll(
    Generations.layerWith({ inputPixelsPerMinute, planTable }),
    AccountDeletion.layerWith({ planTable }),
    Checkouts.layer,
    GenerationSweep.layer,
    PlanChanges.layerWith({ planTable }),
    PlanRenewal.layerWith({ planTable }),
    Uploads.layerWith({ ...uploads, inputPixelsPerMinute })
  ).pipe(
    Layer.provideMerge(ModelStatuses.layerWith(statuses)),
    Layer.provideMerge(
      Layer.mergeAll(
        Accounts.layer,
        AuditLog.layer,
        Idempotency.layer,
        Ledger.layerWith(CreditLots.ledgerOptions),
        Members.layerWith({}),
        Operators.layerWith({}),
        Payments.layerWith(payments).pipe(Layer.provide(paymentProvider)),
        Places.layer,
        RateLimit.layerWith({ advance: requestAdvance, peekAge: "1 second" }),
        Scheduler.layerWith(scheduler),
        Sessions.layerWith(sessions),
        Webhooks.layerWith(webhooks)
      )
    ),
    Layer.provideMerge(Layer.merge(Layer.effect(Catalog.Catalog, Catalog.make(models, { params })), moderation))
  )
}

/** Options for `layerMemory` and `layerPostgres`. */
export interface ServicesLayerOptions extends ServicesOptions {
  /** Keys that encrypt the secrets of webhook endpoints, at least 32 bytes each. The first one seals, all open. */
  readonly webhookKeys: SecretBox.SecretBoxOptions["keys"]
  /** Rules for the URLs of webhooks. Default: HTTPS to public addresses on the ports 443 and 8443. */
  readonly webhookGuard?: AddressGuard.AddressGuardOptions | undefined
}

/** The services and their surroundings in the memory of this process, results included. For tests. */
export const layerMemory = (options: ServicesLayerOptions) =>
  layerSurrounded(options, Changes.layer).pipe(
    Layer.provideMerge(Layer.merge(layerMemoryStores, BlobStore.layerMemory))
  )

/**
 * The services in Postgres, and their surroundings. Requires a `BlobStore` that all
 * processes share. Brings the tables of all packages up to date when the layer is built.
 * Wake-ups reach this process only; other processes find jobs and changes by polling.
 */
export const layerPostgres = (options: ServicesLayerOptions) =>
  layerSurrounded(options, Changes.layerWith({})).pipe(
    Layer.provideMerge(layerSqlStores),
    Layer.provide(Migrations.layer(...migrations))
  )

/** The stores of all packages in the memory of this process, and their unit of work. */
export const layerMemoryStores = Layer.mergeAll(
  MemoryAccountStore.layer,
  MemoryGenerationStore.layer,
  MemoryIdempotencyStore.layer,
  MemoryLedgerStore.layer,
  MemoryOperatorStore.layer,
  MemoryPaymentStore.layer,
  MemoryRateLimitStore.layer,
  MemorySchedulerStore.layer,
  MemorySessionStore.layer,
  MemoryWebhookStore.layer
).pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/** The stores of all packages in a database with the tables of `migrations`, and their unit of work. */
export const layerSqlStoresWith = (options: UnitOfWork.UnitOfWorkOptions) =>
  Layer.mergeAll(
    SqlAccountStore.layer,
    SqlGenerationStore.layer,
    SqlIdempotencyStore.layer,
    SqlLedgerStore.layer,
    SqlOperatorStore.layer,
    SqlPaymentStore.layer,
    SqlRateLimitStore.layer,
    SqlSchedulerStore.layer,
    SqlSessionStore.layer,
    SqlWebhookStore.layer
  ).pipe(Layer.provideMerge(UnitOfWork.layerSqlWith(options)))

/** `layerSqlStoresWith` with default options. */
export const layerSqlStores = layerSqlStoresWith({})

/** The migrations of all packages. No table refers to a table of another package, so their order is arbitrary. */
export const migrations: ReadonlyArray<Migrations.Migrations> = [
  SqlAccountStore.migrations,
  SqlGenerationStore.migrations,
  SqlIdempotencyStore.migrations,
  SqlLedgerStore.migrations,
  SqlOperatorStore.migrations,
  SqlPaymentStore.migrations,
  SqlRateLimitStore.migrations,
  SqlSchedulerStore.migrations,
  SqlSessionStore.migrations,
  SqlWebhookStore.migrations
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerSurrounded = (
  { webhookGuard, webhookKeys: keys, ...options }: ServicesLayerOptions,
  changes: Layer.Layer<Changes.Changes>
) =>
  layer(options).pipe(
    Layer.provideMerge(Layer.mergeAll(
      Callbacks.layer,
      changes,
      Wakeup.layer,
      WebhookWakeup.layer,
      Media.layer(),
      AddressGuard.layerWith(webhookGuard),
      SecretBox.layer({ keys }).pipe(Layer.provide(Aead.layerWebCrypto))
    )),
    Layer.provideMerge(Layer.merge(SecureRandom.layerWebCrypto, Digest.layerWebCrypto))
  )
