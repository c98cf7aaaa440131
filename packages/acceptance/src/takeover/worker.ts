/** A worker of the takeover drill: node worker.ts <url of the database> <group> */
import { PgClient } from "@effect/sql-pg"
import { JobHandler, Scheduler, Worker } from "@kinora/scheduler"
import { Console, Effect, Layer, Redacted } from "effect"
import * as TakeoverJobs from "./TakeoverJobs.ts"

const [url = "", group = ""] = process.argv.slice(2)

/** Runs the first attempt of a job until it is interrupted or the worker is killed, and ends the second one at once. */
const handler = JobHandler.make({
  kind: TakeoverJobs.kindOf(group),
  run: Effect.fnUntraced(function*({ attempt, job }) {
    const print = (event: typeof TakeoverJobs.RunLine.Type["event"]) =>
      Effect.flatMap(TakeoverJobs.now, (at) => Console.log(JSON.stringify({ job, event, at })))
    yield* print("started")
    return attempt === 1 ? yield* Effect.ensuring(Effect.never, print("ended")) : undefined
  }),
  failed: () => Effect.void
})

const scheduler = Scheduler.layerPostgres().pipe(
  Layer.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 4 }))
)

// The renewals of the lease and the rescues have the defaults. Nothing wakes the worker of another process.
const worker = Worker.layer({
  name: `worker-${process.pid}`,
  handlers: [handler],
  lease: TakeoverJobs.lease,
  pollInterval: "1 second"
})

await Effect.runPromise(
  Effect.andThen(Console.log("ready"), Effect.never).pipe(Effect.provide(Layer.provide(worker, scheduler)))
)
