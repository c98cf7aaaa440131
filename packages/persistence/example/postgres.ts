import { PgClient } from "@effect/sql-pg"
import { Migrations, StorageError, UnitOfWork } from "@kinora/persistence"
import { Config, Console, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** A package with a table of its own. */
class Stock extends Context.Service<Stock, {
  /** Takes one item. Returns `false` if none is left. */
  readonly take: (article: string) => Effect.Effect<boolean, StorageError.StorageError>
}>()("example/Stock") {
  static readonly migrations: Migrations.Migrations = {
    namespace: "stock",
    migrations: {
      "0001_articles": SqlClient.SqlClient.use((sql) =>
        sql`CREATE TABLE stock_article (name text PRIMARY KEY, left_over int NOT NULL CHECK (left_over >= 0))`
      ),
      "0002_lamp": SqlClient.SqlClient.use((sql) => sql`INSERT INTO stock_article VALUES ('lamp', 1)`)
    }
  }
  static readonly layer = Layer.effect(
    Stock,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Stock.of({
        take: (name) =>
          sql`
            UPDATE stock_article SET left_over = left_over - 1 WHERE name = ${name} AND left_over > 0 RETURNING name
          `.pipe(Effect.map((rows) => rows.length === 1), StorageError.mapSql("Stock.take"))
      }))
  )
}

/** Another package, which does not know the first. */
class Orders extends Context.Service<Orders, {
  /** Records an order. */
  readonly add: (id: string, article: string) => Effect.Effect<void, StorageError.StorageError>
}>()("example/Orders") {
  static readonly migrations: Migrations.Migrations = {
    namespace: "orders",
    migrations: {
      "0001_orders": SqlClient.SqlClient.use((sql) =>
        sql`CREATE TABLE orders_order (id text PRIMARY KEY, article text NOT NULL)`
      )
    }
  }
  static readonly layer = Layer.effect(
    Orders,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Orders.of({
        add: (id, article) =>
          sql`INSERT INTO orders_order (id, article) VALUES (${id}, ${article})`.pipe(
            Effect.asVoid,
            StorageError.mapSql("Orders.add")
          )
      }))
  )
}

/** Records the order and takes the item, or neither. */
const order = Effect.fn("order")(function*(id: string, article: string) {
  const { afterCommit, atomically } = yield* UnitOfWork.UnitOfWork
  const { add } = yield* Orders
  const { take } = yield* Stock
  return yield* atomically(Effect.gen(function*() {
    yield* add(id, article)
    if (!(yield* take(article))) return yield* Effect.fail("sold out" as const)
    yield* afterCommit(Console.log(`${id} is committed`))
  }))
})

const program = Effect.gen(function*() {
  yield* order("order-1", "lamp")
  const failure = yield* Effect.flip(order("order-2", "lamp"))
  const sql = yield* SqlClient.SqlClient
  yield* Console.log(failure, yield* sql`SELECT id FROM orders_order`)
})

const layer = Layer.mergeAll(Stock.layer, Orders.layer, UnitOfWork.layerSql).pipe(
  Layer.provideMerge(Migrations.layer(Stock.migrations, Orders.migrations)),
  Layer.provideMerge(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }))
)

await Effect.runPromise(Effect.provide(program, layer))
// order-1 is committed
// sold out [ { id: 'order-1' } ]
