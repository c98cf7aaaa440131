/**
 * A sender written with graphile-worker: a task that signs the body, posts it with `fetch`
 * within 10 seconds, and inserts a row into a log. It has no endpoints, no address guard
 * and no isolation between receivers, so its figures are an upper bound.
 */
import { DateTime, Effect } from "effect"
import type { Job, JobHelpers } from "graphile-worker"
import { createHmac } from "node:crypto"
import { attempt, type Environment } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import * as GraphileWorker from "./GraphileWorker.ts"
import * as PostgresServer from "./PostgresServer.ts"
import { filler, type WebhookSender } from "./WebhookSender.ts"

/** Uses the default settings of graphile-worker: one job at a time. */
export const makeDefault = (environment: Environment) =>
  make(environment, { name: "graphile-worker + fetch, default", perSecond: 200 })

/** Sends as many at once as Kinora. */
export const makeTuned = (environment: Environment) =>
  make(environment, { name: "graphile-worker + fetch, 256 at a time", perSecond: 800 }, GraphileWorker.tunedFor(256))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const task = "send"

interface Payload {
  readonly url: string
  readonly data: { readonly n: number; readonly filler: string }
}

const make = Effect.fnUntraced(function*(
  { database }: Environment,
  { name, perSecond }: Pick<WebhookSender, "name" | "perSecond">,
  preset?: GraphileWorker.Preset
) {
  const url = yield* database
  const { addJobs, work } = yield* GraphileWorker.make(url)
  yield* attempt("The log could not be created", () => PostgresServer.run(url, schema))
  let urls: ReadonlyArray<string> = []

  const sender: WebhookSender = {
    name,
    database: url,
    perSecond,
    empty: PostgresServer.truncate(url, "graphile_worker._private_jobs", "send_log"),
    register: (registered) =>
      Effect.sync(() => {
        urls = registered
      }),
    publish: (events, endpoints) =>
      attempt("Jobs could not be added", async () => {
        for (let first = 0; first < events.length; first += GraphileWorker.jobsPerSet) {
          await addJobs(
            events.slice(first, first + GraphileWorker.jobsPerSet).map((n, index) => ({
              identifier: task,
              payload: { url: urls[endpoints[index % endpoints.length] ?? 0], data: { n, filler } },
              maxAttempts: 4
            }))
          )
        }
      }),
    // This module wrote the payload.
    send: work({ [task]: (payload, helpers) => send(payload as Payload, helpers) }, preset),
    isDone: GraphileWorker.isDone
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
