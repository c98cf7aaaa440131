/** A worker of the takeover drill: node worker.ts <url of the database> <group> */
import { PgClient } from "@effect/sql-pg"
import { JobHandler, Scheduler, Worker } from "@kinora/scheduler"
import { Clock, Console, Effect, Layer, Redacted } from "effect"
import * as Takeover from "./Takeover.ts"

const [url = "", group = ""] = process.argv.slice(2)

/** Runs the first attempt of a job until the worker is killed, and ends the second one at once. */
const handler = JobHandler.make({
  kind: Takeover.kindOf(group),
  run: Effect.fnUntraced(function*({ attempt, job }) {
    yield* Console.log(JSON.stringify({ job, at: yield* Clock.currentTimeMillis }))
    return attempt === 1 ? yield* Effect.never : undefined
  }),
  failed: () => Effect.void
})

const scheduler = Scheduler.layerPostgres().pipe(
  Layer.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 4 }))
)

// The lease, its renewals and the rescues have the defaults. Nothing wakes the worker of another process.
const worker = Worker.layer({ name: `worker-${process.pid}`, handlers: [handler], pollInterval: "1 second" })

await Effect.runPromise(
  Effect.andThen(Console.log("ready"), Effect.never).pipe(Effect.provide(Layer.provide(worker, scheduler)))
)
