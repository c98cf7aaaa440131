/** Payments in Postgres. The table holds neither addresses of checkouts nor anything about the customer but the account. */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { paymentsTable } from "./internal/sql/migrations.ts"
import * as Rows from "./internal/sql/payments.ts"
import { PaymentStore } from "./PaymentStore.ts"

/** The table that the store requires. The store itself runs no DDL. */
export const migrations: Migrations = {
  namespace: "payments",
  migrations: { "0001_payments": paymentsTable }
}

/** A store over the surrounding database. */
export const layer: Layer.Layer<PaymentStore, never, SqlClient.SqlClient> = Layer.effect(
  PaymentStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    PaymentStore.of({
      lockAccount: (account) => Rows.lockAccount(sql, account).pipe(mapSql("PaymentStore.lockAccount")),
      countOpen: (account) => Rows.countOpen(sql, account).pipe(mapSql("PaymentStore.countOpen")),
      insert: (payment, dueAt) => Rows.insert(sql, payment, dueAt).pipe(mapSql("PaymentStore.insert")),
      find: (id) => Rows.find(sql, id).pipe(mapSql("PaymentStore.find")),
      // Locks and reads in two statements: the second one sees the commits that the lock waited for.
      lock: (id) => Rows.lock(sql, id).pipe(Effect.andThen(Rows.find(sql, id)), mapSql("PaymentStore.lock")),
      saveCheckout: (id, checkout) => Rows.saveCheckout(sql, id, checkout).pipe(mapSql("PaymentStore.saveCheckout")),
      settle: (id, settlement) => Rows.settle(sql, id, settlement).pipe(mapSql("PaymentStore.settle")),
      list: (query) => Rows.list(sql, query).pipe(mapSql("PaymentStore.list")),
      claimDue: (query) => Rows.claimDue(sql, query).pipe(mapSql("PaymentStore.claimDue")),
      deleteSettled: (before, limit) =>
        Rows.deleteSettled(sql, before, limit).pipe(mapSql("PaymentStore.deleteSettled"))
    }))
)
