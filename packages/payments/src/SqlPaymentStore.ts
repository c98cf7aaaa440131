/** Payments in Postgres. The table holds neither addresses of checkouts nor anything about the customer but the account. */
import type { Migrations } from "@kinora/persistence/Migrations"
import * as SqlStore from "@kinora/persistence/SqlStore"
import type { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { paymentsTable } from "./internal/sql/migrations.ts"
import * as Payments from "./internal/sql/payments.ts"
import { PaymentStore } from "./PaymentStore.ts"

/** The table that the store requires. The store itself runs no DDL. */
export const migrations: Migrations = {
  namespace: "payments",
  migrations: { "0001_payments": paymentsTable }
}

/** A store over the surrounding database. */
export const layer: Layer.Layer<PaymentStore, never, SqlClient.SqlClient> = SqlStore.layer(PaymentStore, Payments)
