/** Sets graphile-worker up, for the peers that are built on it. */
import * as PgPool from "@kinora/testkit/PgPool"
import { Effect } from "effect"
import { Logger, makeWorkerUtils, run, type RunnerOptions, type TaskList } from "graphile-worker"
import { attempt } from "./Benchmark.ts"

/** Settings of a worker. */
export type Preset = NonNullable<RunnerOptions["preset"]>

/** Creates the tables in a database. Returns the functions that add jobs, and one that runs a worker until its scope closes. */
export const make = Effect.fnUntraced(function*(url: string) {
  const pgPool = yield* poolOf(url)
  const { addJob, addJobs, migrate } = yield* Effect.acquireRelease(
    attempt("graphile-worker does not start", () => makeWorkerUtils({ pgPool, logger })),
    (utils) => Effect.promise(async () => utils.release())
  )
  yield* attempt("graphile-worker could not migrate", () => migrate())

  const work = Effect.fnUntraced(function*(taskList: TaskList, preset: Preset = {}) {
    const pgPool = yield* poolOf(url, preset?.worker?.maxPoolSize)
    yield* Effect.acquireRelease(
      attempt("graphile-worker does not work", () => run({ pgPool, logger, noHandleSignals: true, taskList, preset })),
      (runner) => Effect.promise(() => runner.stop())
    )
  })

  return { addJob, addJobs, work }
})

/** Runs this number of jobs at a time, with the settings that its documentation recommends for throughput. */
export const tunedFor = (concurrentJobs: number): Preset => ({
  worker: {
    concurrentJobs,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0
  }
})

/** Maximum number of jobs that one call of `addJobs` adds. */
export const jobsPerSet = 1_000

/** SQL query. Returns one row, whose column `done` is true if no job is left. */
export const isDone = "SELECT NOT EXISTS (SELECT 1 FROM graphile_worker._private_jobs) AS done"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Opens a pool, since graphile-worker does not close one that it is given. Default 10 connections, as in graphile-worker. */
const poolOf = (url: string, max = 10) =>
  Effect.acquireRelease(Effect.sync(() => PgPool.make(url, max)), (pool) => Effect.promise(() => pool.end()))

const logger = new Logger(() => () => {})
