/** Backends, and workers for tests. */
import { Backend as Backends, DatabaseSchema, Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Context, Effect, Layer } from "effect"
import * as MemorySchedulerStore from "../src/MemorySchedulerStore.ts"
import * as Scheduler from "../src/Scheduler.ts"
import type { SchedulerStore } from "../src/SchedulerStore.ts"
import * as SqlSchedulerStore from "../src/SqlSchedulerStore.ts"
import * as Wakeup from "../src/Wakeup.ts"
import * as Worker from "../src/Worker.ts"

export type Backend = Scheduler.Scheduler | SchedulerStore | UnitOfWork.UnitOfWork | Wakeup.Wakeup

export const memory: Layer.Layer<Backend> = Scheduler.layerWith().pipe(
  Layer.provideMerge(Layer.merge(MemorySchedulerStore.layer, Wakeup.layer)),
  Layer.provideMerge(UnitOfWork.layerMemory)
)

/**
 * The store and the client of tests. On Postgres, the tables are in a schema, whose name the client writes into the statements of
 * tests too. On PGlite, and in transactions of other drivers, they are in the schema of the connection.
 */
const placed = (database: TestDatabase.TestDatabase) =>
  database === TestDatabase.postgres
    ? {
      store: Backends.inSchema(SqlSchedulerStore, "apart"),
      client: Layer.provideMerge(DatabaseSchema.layer("apart", SqlSchedulerStore.migrations.objects), database)
    }
    : { store: SqlSchedulerStore, client: database }

export const over = (database: TestDatabase.TestDatabase) => {
  const { client, store } = placed(database)
  return Scheduler.layerWith().pipe(
    Layer.provideMerge(Layer.mergeAll(store.layer, Wakeup.layer)),
    // Without reruns a deadlock fails the test. Hundreds of units take turns on few connections, on a machine that runs other
    // tests.
    Layer.provideMerge(UnitOfWork.layerSqlWith({ reruns: 0, deadline: "2 minutes" })),
    Layer.provideMerge(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}

/** Starts a worker in the current scope. */
export const startWorker = (options: Parameters<typeof Worker.layer>[0]) =>
  Effect.map(Layer.build(Worker.layer(options)), (services) => Context.get(services, Worker.Worker))
