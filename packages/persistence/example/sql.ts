import { Migrations, StorageError, UnitOfWork } from "@kinora/persistence"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError } from "effect/sql"
import { Orders, Stock } from "./orders.ts"

/** Each package has its tables, and a table that says which of its migrations have run. */
const stock: Migrations.Migrations = {
  namespace: "stock",
  migrations: {
    "0001_create_article": SqlClient.SqlClient.use((sql) =>
      sql`CREATE TABLE stock_article (name text PRIMARY KEY, count int NOT NULL CHECK (count >= 0))`
    ),
    "0002_add_lamp": SqlClient.SqlClient.use((sql) => sql`INSERT INTO stock_article (name, count) VALUES ('lamp', 1)`)
  }
}
const orders: Migrations.Migrations = {
  namespace: "orders",
  migrations: {
    "0001_create_order": SqlClient.SqlClient.use((sql) =>
      sql`CREATE TABLE orders_order (id text PRIMARY KEY, article text NOT NULL)`
    )
  }
}

const layerStock = Layer.effect(
  Stock,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Stock.of({
      take: (name) =>
        sql`UPDATE stock_article SET count = count - 1 WHERE name = ${name} AND count > 0 RETURNING name`.pipe(
          Effect.map((rows) => rows.length === 1),
          StorageError.mapSql("Stock.take")
        )
    }))
)

const layerOrders = Layer.effect(
  Orders,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Orders.of({
      add: (id, article) =>
        sql`INSERT INTO orders_order (id, article) VALUES (${id}, ${article})`.pipe(
          Effect.asVoid,
          StorageError.mapSql("Orders.add")
        ),
      count: sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM orders_order`.pipe(
        Effect.map((rows) => rows[0]?.count ?? 0),
        StorageError.mapSql("Orders.count")
      )
    }))
)

/** The same packages in a database. */
export const layerSql = <E>(database: Layer.Layer<SqlClient.SqlClient, E | SqlError.SqlError>) =>
  Layer.mergeAll(layerStock, layerOrders, UnitOfWork.layerSql, SecureRandom.layerWebCrypto).pipe(
    Layer.provide(Migrations.layer(stock, orders).pipe(Layer.provideMerge(database)))
  )
