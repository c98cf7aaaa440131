/** Backends, and names that no other test uses. */
import { Backend as Backends, DatabaseSchema, Migrations, type StorageError, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Context, type Duration, Effect, Layer, Schema } from "effect"
import type { Enqueue, RescueOptions } from "../src/internal/requests.ts"
import * as JobKind from "../src/JobKind.ts"
import * as MemorySchedulerStore from "../src/MemorySchedulerStore.ts"
import * as Scheduler from "../src/Scheduler.ts"
import type { SchedulerError } from "../src/SchedulerError.ts"
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

/** Creates names of lanes, kinds and jobs that no other test of the same database uses. */
export const makeWorld = Effect.sync(() => {
  const world = ++worlds
  let jobs = 0
  const group = `group-${world}`
  const lane = `lane-${world}`
  const kind = JobKind.make({ name: `kind-${world}`, payload: Schema.Struct({ n: Schema.Int }) })
  const id = (n = ++jobs) => `00000000-0000-4000-8000-${String(world * 1_000_000 + n).padStart(12, "0")}`
  return {
    group,
    lane,
    kind,
    id,
    /** A job, by default in the lane of the world. */
    job: (options: Partial<Enqueue<{ readonly n: number }>> = {}): Enqueue<{ readonly n: number }> => ({
      job: id(),
      lane,
      group,
      kind,
      payload: { n: jobs },
      cap: 1,
      ...options
    }),
    /** Claims under a lease of its own, which is renewed by nobody. */
    claim: ({ ttl, ...options }: Options = {}) =>
      Effect.flatMap(
        takeLease(ttl),
        (lease) =>
          Scheduler.Scheduler.use((scheduler) =>
            scheduler.claim({ lease, worker: "test", kinds: [kind.name], limit: 10, ...options })
          )
      ),
    /** Rescues under a lease of its own. */
    rescue: ({ ttl, ...options }: Options = {}) =>
      Effect.flatMap(
        takeLease(ttl),
        (lease) =>
          Scheduler.Scheduler.use((scheduler) =>
            scheduler.rescue({ lease, worker: "rescuer", kinds: [kind.name], limit: 10, ...options })
          )
      )
  }
})

let worlds = 0

type Options = Partial<RescueOptions> & { readonly ttl?: Duration.Input | undefined }

/** Takes a lease of a worker that offers nothing. */
export const takeLease = (ttl: Duration.Input = "30 seconds", id = `worker-${++workers}`) =>
  Scheduler.Scheduler.use((scheduler) => scheduler.takeLease({ id, worker: "test", kinds: [], slots: 1, ttl }))

let workers = 0

/** Starts a worker in the current scope. */
export const startWorker = (options: Worker.WorkerOptions) =>
  Effect.map(Layer.build(Worker.layer(options)), (services) => Context.get(services, Worker.Worker))

/** The state of a job, or `undefined` if it has ended. */
export const stateOf = Effect.fnUntraced(function*(job: string) {
  const { find } = yield* Scheduler.Scheduler
  const [status] = yield* find([job])
  return status?.state
})

export const ids = (jobs: ReadonlyArray<{ readonly job: string }>) => jobs.map(({ job }) => job)

/** The reason why a single call was refused. */
export const refusal = <A>(effect: Effect.Effect<A, SchedulerError | StorageError.StorageError>) =>
  Effect.flatMap(
    Effect.flip(effect),
    (error) => error._tag === "SchedulerError" ? Effect.succeed(error.reason) : Effect.die(error)
  )
