/**
 * graphile-worker. Its only cap is a named queue, which runs one job at a time and costs
 * most of the speed. It runs without queues here, so groups have no effect.
 */
import { Effect } from "effect"
import { attempt, BenchmarkFailure, type Environment } from "./Benchmark.ts"
import * as GraphileWorker from "./GraphileWorker.ts"
import type { JobQueue } from "./JobQueue.ts"
import * as PostgresServer from "./PostgresServer.ts"

/** Creates the queue. */
export const make = Effect.fnUntraced(function*({ database }: Environment) {
  const url = yield* database
  const { addJob, addJobs, work } = yield* GraphileWorker.make(url)
  const tasks = (onJob: () => void) => ({ [task]: () => onJob() })

  const queue: JobQueue = {
    name: "graphile-worker, no caps",
    database: url,
    empty: PostgresServer.truncate(url, "graphile_worker._private_jobs"),
    fill: (jobs) =>
      attempt("Jobs could not be added", async () => {
        for (let first = 0; first < jobs; first += GraphileWorker.jobsPerSet) {
          const length = Math.min(GraphileWorker.jobsPerSet, jobs - first)
          await addJobs(Array.from({ length }, () => ({ identifier: task, payload: {} })))
        }
      }),
    block: () => Effect.fail(new BenchmarkFailure({ what: "graphile-worker has no caps that could block jobs" })),
    add: Effect.asVoid(attempt("A job could not be added", () => addJob(task, {}))),
    workInBatches: (onJob) => work(tasks(onJob), GraphileWorker.tunedFor(24)),
    workSingly: () => Effect.fail(new BenchmarkFailure({ what: "graphile-worker has no caps that could be kept" })),
    workPromptly: (onJob) => work(tasks(onJob)),
    isDone: GraphileWorker.isDone,
    isOverCap: "SELECT false AS over"
  }
  return queue
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const task = "bench"
