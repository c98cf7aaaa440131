/** A shop that sends webhooks about orders to its customers. */
import { type Migrations, type StorageError, UnitOfWork } from "@kinora/persistence"
import { Webhooks } from "@kinora/webhooks"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Orders of customers. */
export class Orders extends Context.Service<Orders, {
  /** Stores a paid order and publishes `order.paid` to the customer's endpoints: both, or neither. */
  readonly pay: (customer: string, order: string, cents: number) => Effect.Effect<void, StorageError.StorageError>
}>()("example/Orders") {}

export const migrations: Migrations.Migrations = {
  namespace: "orders",
  migrations: {
    "0001_orders": SqlClient.SqlClient.use((sql) =>
      sql`CREATE TABLE orders_order (id text PRIMARY KEY, customer text NOT NULL, cents int4 NOT NULL)`
    )
  }
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { publish } = yield* Webhooks.Webhooks
  return Orders.of({
    pay: Effect.fn("Orders.pay")(function*(customer, order, cents) {
      yield* sql`INSERT INTO orders_order (id, customer, cents) VALUES (${order}, ${customer}, ${cents})`
      yield* publish([{ account: customer, type: "order.paid", data: { order, cents } }])
    }, atomically)
  })
})

export const layer = Layer.effect(Orders, make)
