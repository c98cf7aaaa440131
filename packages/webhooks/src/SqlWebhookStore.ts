/**
 * A `WebhookStore` in Postgres or PGlite. The operations of workers and `publish` take one
 * statement each, independent of the size of the set.
 *
 * Locks are taken in this order, and locks of one kind in the order of ids: name of the account,
 * endpoint, deliveries, events, failures of endpoints. Claims and sweeps skip locked rows. Publishing locks nothing.
 */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Deliveries from "./internal/sql/deliveries.ts"
import * as Endpoints from "./internal/sql/endpoints.ts"
import * as Worker from "./internal/sql/worker.ts"
import * as Tables from "./migrations.ts"
import { WebhookStore } from "./WebhookStore.ts"

/** Migrations of the tables of this package. */
export const migrations: Relocatable = Tables.migrations

/** Provides a store in a database with the schema of `migrations`. Runs no DDL. */
export const layer: Layer.Layer<WebhookStore, never, SqlClient.SqlClient | UnitOfWork> = Layer.effect(
  WebhookStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const unitOfWork = yield* UnitOfWork
    return WebhookStore.of({
      ...Endpoints.methods(sql, unitOfWork),
      ...Deliveries.methods(sql),
      ...Worker.methods(sql, unitOfWork)
    })
  })
)
