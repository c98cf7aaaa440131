/**
 * The use-cases and every domain service that they call, over stores of one kind. Hosts
 * and tests build on it instead of connecting the packages themselves.
 */
import { Accounts, MemoryAccountStore, PlanTable, SqlAccountStore } from "@kinora/accounts"
import { Catalog, DefaultModels } from "@kinora/catalog"
import { Idempotency, MemoryIdempotencyStore, SqlIdempotencyStore } from "@kinora/idempotency"
import { Ledger, MemoryLedgerStore, SqlLedgerStore } from "@kinora/ledger"
import { type Migrations, UnitOfWork } from "@kinora/persistence"
import { MemorySchedulerStore, Scheduler, SqlSchedulerStore } from "@kinora/scheduler"
import { MemoryWebhookStore, SqlWebhookStore, Webhooks } from "@kinora/webhooks"
import { Layer } from "effect"
import * as Generations from "./Generations.ts"
import * as GenerationSweep from "./GenerationSweep.ts"
import * as MemoryGenerationStore from "./MemoryGenerationStore.ts"
import * as PlanRenewal from "./PlanRenewal.ts"
import * as SqlGenerationStore from "./SqlGenerationStore.ts"
import * as Uploads from "./Uploads.ts"

/** Options for `Services.layer`. */
export interface ServicesOptions {
  /** Models of the catalog, as in a configuration file. Default: `DefaultModels.models`. Invalid models fail the layer. */
  readonly models?: unknown
  /** Slots, quotas and prices of the plan tiers. Default: `PlanTable.defaults`. */
  readonly planTable?: PlanTable.PlanTable | undefined
  /** Limits of jobs. Default: the scheduler's. */
  readonly scheduler?: Scheduler.SchedulerOptions | undefined
  /** Limits of uploads. Default: those of `Uploads`. */
  readonly uploads?: Uploads.UploadsOptions | undefined
}

/**
 * The services. Requires stores (`layerMemoryStores` or `layerSqlStores`), a
 * `BlobStore`, `Media`, the wake-ups (`Changes` and both `Wakeup`s), `AddressGuard` and
 * `SecretBox` of webhooks, `SecureRandom` and `Digest`.
 */
export const layer = (options: ServicesOptions) => {
  const { models = DefaultModels.models, planTable = PlanTable.defaults, scheduler = {}, uploads = {} } = options
  return Layer.mergeAll(
    Generations.layerWith({ planTable }),
    GenerationSweep.layer,
    PlanRenewal.layerWith({ planTable }),
    Uploads.layerWith(uploads)
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(Accounts.layer, Idempotency.layer, Ledger.layer, Scheduler.layer(scheduler), Webhooks.layer)
    ),
    Layer.provideMerge(Layer.effect(Catalog.Catalog, Catalog.make(models)))
  )
}

/** The stores of all packages in the memory of this process, and their unit of work. */
export const layerMemoryStores = Layer.mergeAll(
  MemoryAccountStore.layer,
  MemoryGenerationStore.layer,
  MemoryIdempotencyStore.layer,
  MemoryLedgerStore.layer,
  MemorySchedulerStore.layer,
  MemoryWebhookStore.layer
).pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/** The stores of all packages in a database with the tables of `migrations`, and their unit of work. */
export const layerSqlStores = Layer.mergeAll(
  SqlAccountStore.layer,
  SqlGenerationStore.layer,
  SqlIdempotencyStore.layer,
  SqlLedgerStore.layer,
  SqlSchedulerStore.layer,
  SqlWebhookStore.layer
).pipe(Layer.provideMerge(UnitOfWork.layerSql))

/** The migrations of all packages. No table refers to a table of another package, so their order is arbitrary. */
export const migrations: ReadonlyArray<Migrations.Migrations> = [
  SqlAccountStore.migrations,
  SqlGenerationStore.migrations,
  SqlIdempotencyStore.migrations,
  SqlLedgerStore.migrations,
  SqlSchedulerStore.migrations,
  SqlWebhookStore.migrations
]
