/**
 * graphile-worker. Its only cap is a named queue, which runs one job at a time and costs
 * most of the speed. It runs without queues here, so groups have no effect.
 */
import { Effect } from "effect"
import { Logger, makeWorkerUtils, run, type RunnerOptions } from "graphile-worker"
import { attempt, BenchmarkFailure, type Environment } from "./Benchmark.ts"
import type { JobQueue } from "./JobQueue.ts"
import * as PgPool from "./PgPool.ts"
import * as PostgresServer from "./PostgresServer.ts"

/** Creates the queue. */
export const make = Effect.fnUntraced(function*({ database }: Environment) {
  const url = yield* database
  const pgPool = yield* PgPool.makeForGraphileWorker(url)
  const utils = yield* Effect.acquireRelease(
    attempt("graphile-worker does not start", () => makeWorkerUtils({ pgPool, logger })),
    (utils) => Effect.promise(async () => utils.release())
  )
  yield* attempt("graphile-worker could not migrate", () => utils.migrate())

  const work = Effect.fnUntraced(function*(onJob: () => void, options: Partial<RunnerOptions>) {
    const pgPool = yield* PgPool.makeForGraphileWorker(url, options.preset?.worker?.maxPoolSize)
    yield* Effect.acquireRelease(
      attempt("graphile-worker does not work", () =>
        run({
          pgPool,
          logger,
          noHandleSignals: true,
          taskList: { [task]: () => onJob() },
          ...options
        })),
      (runner) => Effect.promise(() => runner.stop())
    )
  })

  const queue: JobQueue = {
    name: "graphile-worker, no caps",
    database: url,
    empty: attempt(
      "The jobs could not be deleted",
      () => PostgresServer.run(url, "TRUNCATE graphile_worker._private_jobs")
    ),
    fill: (jobs) =>
      attempt("Jobs could not be added", async () => {
        for (let first = 0; first < jobs; first += jobsPerSet) {
          const length = Math.min(jobsPerSet, jobs - first)
          await utils.addJobs(Array.from({ length }, () => ({ identifier: task, payload: {} })))
        }
      }),
    block: () => Effect.fail(new BenchmarkFailure({ what: "graphile-worker has no caps that could block jobs" })),
    add: Effect.asVoid(attempt("A job could not be added", () => utils.addJob(task, {}))),
    // The settings that its documentation recommends for throughput.
    workInBatches: (onJob) =>
      work(onJob, {
        preset: {
          worker: {
            concurrentJobs: 24,
            maxPoolSize: 25,
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0
          }
        }
      }),
    workSingly: () => Effect.fail(new BenchmarkFailure({ what: "graphile-worker has no caps that could be kept" })),
    workPromptly: (onJob) => work(onJob, {}),
    isDone: "SELECT NOT EXISTS (SELECT 1 FROM graphile_worker._private_jobs) AS done",
    isOverCap: "SELECT false AS over"
  }
  return queue
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const task = "bench"
const jobsPerSet = 1_000
const logger = new Logger(() => () => {})
