import { PgClient } from "@effect/sql-pg"
import { JobHandler, JobKind, Scheduler, Worker } from "@kinora/scheduler"
import { Config, Console, Effect, Layer, Queue, Schema } from "effect"
import { SqlClient } from "effect/sql"

const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })

// Creates or updates the tables of the scheduler.
const schedulerLayer = Scheduler.layerPostgres().pipe(Layer.provideMerge(database))

const Render = JobKind.make({ name: "render", payload: Schema.Struct({ scene: Schema.String }) })

const program = Effect.gen(function*() {
  const scheduler = yield* Scheduler.Scheduler
  const sql = yield* SqlClient.SqlClient
  const rendered = yield* Queue.unbounded<string>()
  const handler = JobHandler.make({
    kind: Render,
    run: (job) => Queue.offer(rendered, job.payload.scene),
    failed: () => Effect.succeed(false)
  })

  // The row and the job are committed together, or neither is.
  const job = crypto.randomUUID()
  yield* sql`CREATE TABLE IF NOT EXISTS scene (job uuid PRIMARY KEY, name text NOT NULL)`
  yield* sql.withTransaction(Effect.gen(function*() {
    yield* sql`INSERT INTO scene (job, name) VALUES (${job}, 'dawn')`
    yield* scheduler.enqueue({
      job,
      lane: "ada/render",
      group: "ada",
      cap: 1,
      kind: Render,
      payload: { scene: "dawn" }
    })
  }))

  const worker = Worker.layer({ name: "worker-1", handlers: [handler] })
  yield* Console.log(yield* Effect.provide(Queue.take(rendered), worker)) // dawn
})

await Effect.runPromise(program.pipe(Effect.provide(schedulerLayer)))
