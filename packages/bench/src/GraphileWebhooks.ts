/**
 * A sender written with graphile-worker: a task that signs the body, posts it with `fetch`
 * within 10 seconds, and inserts a row into a log. It has no endpoints, no address guard
 * and no isolation between receivers, so its figures are an upper bound.
 */
import { DateTime, Effect } from "effect"
import { type Job, type JobHelpers, Logger, makeWorkerUtils, run, type RunnerOptions } from "graphile-worker"
import { createHmac } from "node:crypto"
import { attempt, type Environment } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as PgPool from "./PgPool.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { filler, type WebhookSender } from "./WebhookSender.ts"

/** Uses the default settings of graphile-worker: one job at a time. */
export const makeDefault = (environment: Environment) =>
  make(environment, { name: "graphile-worker + fetch, default", perSecond: 200 }, {})

/** Sends as many at once as Kinora, with the settings that its documentation recommends for throughput. */
export const makeTuned = (environment: Environment) =>
  make(environment, { name: "graphile-worker + fetch, 256 at a time", perSecond: 800 }, {
    preset: {
      worker: {
        concurrentJobs: 256,
        maxPoolSize: 25,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0
      }
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const task = "send"
const jobsPerSet = 1_000
const logger = new Logger(() => () => {})

interface Payload {
  readonly url: string
  readonly data: { readonly n: number; readonly filler: string }
}

const make = Effect.fnUntraced(function*(
  { database }: Environment,
  { name, perSecond }: Pick<WebhookSender, "name" | "perSecond">,
  options: Partial<RunnerOptions>
) {
  const url = yield* database
  const pgPool = yield* PgPool.makeForGraphileWorker(url)
  const utils = yield* Effect.acquireRelease(
    attempt("graphile-worker does not start", () => makeWorkerUtils({ pgPool, logger })),
    (utils) => Effect.promise(async () => utils.release())
  )
  yield* attempt("graphile-worker could not migrate", () => utils.migrate())
  yield* attempt("The log could not be created", () => PostgresServer.run(url, schema))
  let urls: ReadonlyArray<string> = []

  const sender: WebhookSender = {
    name,
    database: url,
    perSecond,
    empty: attempt(
      "The jobs could not be deleted",
      () => PostgresServer.run(url, "TRUNCATE graphile_worker._private_jobs, send_log")
    ),
    register: (registered) =>
      Effect.sync(() => {
        urls = registered
      }),
    publish: (events, endpoints) =>
      attempt("Jobs could not be added", async () => {
        for (let first = 0; first < events.length; first += jobsPerSet) {
          await utils.addJobs(
            events.slice(first, first + jobsPerSet).map((n, index) => ({
              identifier: task,
              payload: { url: urls[endpoints[index % endpoints.length] ?? 0], data: { n, filler } },
              maxAttempts: 4
            }))
          )
        }
      }),
    send: Effect.gen(function*() {
      const pgPool = yield* PgPool.makeForGraphileWorker(url, options.preset?.worker?.maxPoolSize)
      yield* Effect.acquireRelease(
        attempt("graphile-worker does not work", () =>
          run({
            pgPool,
            logger,
            noHandleSignals: true,
            // This module wrote the payload.
            taskList: { [task]: (payload, helpers) => send(payload as Payload, helpers) },
            ...options
          })),
        (runner) => Effect.promise(() => runner.stop())
      )
    }),
    isDone: "SELECT NOT EXISTS (SELECT 1 FROM graphile_worker._private_jobs) AS done"
  }
  return sender
})

const schema = `
  CREATE TABLE send_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, url text NOT NULL, attempt int4 NOT NULL,
    at timestamptz NOT NULL DEFAULT now(), duration_ms float8 NOT NULL, http_status int4
  )
`

const post = async ({ data, url }: Payload, { created_at, id }: Job): Promise<number | null> => {
  const timestamp = Math.floor(DateTime.nowUnsafe().epochMilliseconds / 1000)
  const body = JSON.stringify({ id, type: "bench.done", created_at, data })
  const signature = createHmac("sha256", "whsec_of_the_benchmarks").update(`${timestamp}.${body}`).digest("hex")
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-service-signature": `t=${timestamp},v1=${signature}` },
      body,
      signal: AbortSignal.timeout(10_000)
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return null
  }
}

const send = async (payload: Payload, helpers: JobHelpers): Promise<void> => {
  const began = Callers.now()
  const status = await post(payload, helpers.job)
  await helpers.query(
    "INSERT INTO send_log (url, attempt, duration_ms, http_status) VALUES ($1, $2, $3, $4)",
    [payload.url, helpers.job.attempts, Callers.now() - began, status]
  )
  if (status === null || status < 200 || status >= 300) throw new Error(`no 2xx from ${payload.url}`)
}
