/** Where the packages keep their state: all of them in memory, or all of them in one database. */
import { MemoryAccountStore, SqlAccountStore } from "@kinora/accounts"
import { MemoryGenerationStore, SqlGenerationStore } from "@kinora/generations"
import { MemoryIdempotencyStore, SqlIdempotencyStore } from "@kinora/idempotency"
import { MemoryLedgerStore, SqlLedgerStore } from "@kinora/ledger"
import { type Migrations, UnitOfWork } from "@kinora/persistence"
import { MemoryRateLimitStore, SqlRateLimitStore } from "@kinora/rate-limit"
import { MemorySchedulerStore, SqlSchedulerStore } from "@kinora/scheduler"
import { MemoryWebhookStore, SqlWebhookStore } from "@kinora/webhooks"
import { Layer } from "effect"

/** In this process's memory; gone with it. */
export const layerMemory = Layer.mergeAll(
  MemoryAccountStore.layer,
  MemoryGenerationStore.layer,
  MemoryIdempotencyStore.layer,
  MemoryLedgerStore.layer,
  MemoryRateLimitStore.layer,
  MemorySchedulerStore.layer,
  MemoryWebhookStore.layer
).pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/** In the surrounding database, which has the schema of `migrations`. */
export const layerSql = Layer.mergeAll(
  SqlAccountStore.layer,
  SqlGenerationStore.layer,
  SqlIdempotencyStore.layer,
  SqlLedgerStore.layer,
  SqlRateLimitStore.layer,
  SqlSchedulerStore.layer,
  SqlWebhookStore.layer
).pipe(Layer.provideMerge(UnitOfWork.layerSql))

/** The schemas of all packages. None refers to another's tables, so their order says nothing. */
export const migrations: ReadonlyArray<Migrations.Migrations> = [
  SqlAccountStore.migrations,
  SqlGenerationStore.migrations,
  SqlIdempotencyStore.migrations,
  SqlLedgerStore.migrations,
  SqlRateLimitStore.migrations,
  SqlSchedulerStore.migrations,
  SqlWebhookStore.migrations
]
