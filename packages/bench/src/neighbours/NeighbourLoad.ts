/** Load of ordinary accounts: requests at a constant rate, whether or not earlier ones have a response. */
import { Effect, Schema } from "effect"
import { setTimeout } from "node:timers/promises"
import { type Dispatcher, Pool } from "undici"
import { attempt, BenchmarkFailure, failingWith, type Round } from "../Benchmark.ts"
import * as Callers from "../Callers.ts"
import * as HttpCallers from "../HttpCallers.ts"
import type { HttpServer } from "../HttpServer.ts"
import { percentilesOf } from "../Statistics.ts"
import { jsonHeaders } from "./Attack.ts"
import { models } from "./models.ts"
import { smallImage } from "./smallImage.ts"

/** Number of accounts. */
export const accountCount = 20

/** Requests per second of all accounts together: a fraction of what a core serves. */
export const perSecond = 60

/** The accounts, and their load. */
interface NeighbourLoad {
  readonly keys: ReadonlyArray<string>
  /** Sends the requests, waits for their responses, and returns the figures. */
  readonly round: Effect.Effect<Round, BenchmarkFailure>
}

/** Creates accounts with results. */
export const make = Effect.fnUntraced(function*({ makeKeys, origin }: HttpServer, seconds: number) {
  const total = Math.ceil(seconds * perSecond)
  const keys = yield* makeKeys(accountCount)
  // Each result can be downloaded ten times per day.
  const results = Math.ceil(total * shareOf("content") / accountCount / 8)
  const creates = keys.flatMap((key) => Array.from({ length: results }, (_, n) => imageOf(key, `result ${n}`)))
  const { bodies } = yield* HttpCallers.send({ origin, connections: 8, seconds: 60, status: 200, requests: creates })
  if (bodies.length < creates.length) {
    return yield* new BenchmarkFailure({ what: "The results were not created in time" })
  }
  const urls = yield* Effect.forEach(bodies, (body) => decodeImage(body)).pipe(failingWith("No result"))
  const neighbours = keys.map((key, account): Neighbour => {
    const paths = urls.slice(account * results, (account + 1) * results).map(({ data: [{ url }] }) =>
      new URL(url).pathname
    )
    let downloads = 0
    return { key, nextContent: () => paths[downloads++ % paths.length] ?? "" }
  })
  const load: NeighbourLoad = {
    keys,
    round: attempt("The neighbours could not be measured", () => send(origin, neighbours, total))
  }
  return load
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Neighbour {
  readonly key: string
  /** Returns the paths of its results in turns. */
  readonly nextContent: () => string
}

type Operation = "create" | "read" | "content" | "upload" | "image"

/** The operations of 20 requests. An image is a job, from the request to its result. */
const mix: ReadonlyArray<Operation> = [
  ...["image", "read", "read", "content", "read", "upload", "read", "content", "read", "read"] as const,
  ...["image", "read", "create", "content", "read", "upload", "read", "content", "read", "read"] as const
]

const shareOf = (operation: Operation): number => mix.filter((other) => other === operation).length / mix.length

/** Number of connections: enough for all requests of two seconds without a response. */
const connections = 128

/** Time after which a request without a response counts as failed, in milliseconds. No response takes longer. */
const patienceMillis = 60_000

const picture = Buffer.from(smallImage, "base64")

const imageOf = (key: string, prompt: string): HttpCallers.Request => ({
  method: "POST",
  path: "/v1/images/generations",
  headers: jsonHeaders(key),
  body: JSON.stringify({ plan: "credits", model: models.quick.id, prompt })
})

/** Returns the request of a number, and the status of its success. */
const requestOf = (
  { key, nextContent }: Neighbour,
  operation: Operation,
  n: number
): readonly [status: number, request: Dispatcher.RequestOptions] => {
  const headers = jsonHeaders(key)
  switch (operation) {
    case "create": {
      const body = JSON.stringify({ plan: "credits", model: models.quick.id, params: { prompt: `job ${n}` } })
      return [201, { method: "POST", path: "/v1/generations", headers, body }]
    }
    case "image":
      return [200, imageOf(key, `image ${n}`)]
    case "read":
      return [200, { method: "GET", path: nextContent().replace(/\/content$/, ""), headers }]
    case "content":
      return [200, { method: "GET", path: nextContent(), headers }]
    case "upload":
      return [201, {
        method: "POST",
        path: "/v1/uploads",
        headers: { ...headers, "content-type": "image/png" },
        body: picture
      }]
  }
}

/** Latencies count from the planned time of a request, so a stall delays all requests that fall into it. */
const send = async (origin: string, neighbours: ReadonlyArray<Neighbour>, total: number): Promise<Round> => {
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: patienceMillis,
    bodyTimeout: patienceMillis
  })
  const latencies: Array<readonly [operation: Operation, millis: number]> = []
  const failed: Record<string, number> = {}
  const began = Callers.now()
  try {
    await Promise.all(Array.from({ length: total }, async (_, n) => {
      const planned = began + n * 1000 / perSecond
      await setTimeout(Math.max(0, planned - Callers.now()))
      const operation = mix[n % mix.length] ?? "read"
      const account = (n + Math.floor(n / mix.length)) % neighbours.length
      const [status, request] = requestOf(neighbours[account]!, operation, n)
      const outcome = await statusOf(pool, request)
      latencies.push([operation, Callers.now() - planned])
      if (outcome !== String(status)) failed[`${operation} ${outcome}`] = (failed[`${operation} ${outcome}`] ?? 0) + 1
    }))
    const elapsed = Callers.now() - began
    const all = latencies.map(([, millis]) => millis)
    const p99Of = (operation: Operation) =>
      percentilesOf(latencies.filter(([other]) => other === operation).map(([, millis]) => millis)).p99
    return {
      perSecond: total * 1000 / elapsed,
      ...percentilesOf(all),
      max: Math.max(...all),
      operations: Object.fromEntries([...new Set(mix)].map((operation) => [operation, p99Of(operation)])),
      failed
    }
  } finally {
    await pool.destroy()
  }
}

const statusOf = async (pool: Pool, request: Dispatcher.RequestOptions): Promise<string> => {
  try {
    const { body, statusCode } = await pool.request(request)
    await body.arrayBuffer()
    return String(statusCode)
  } catch (cause) {
    return cause instanceof Error && "code" in cause ? String(cause.code) : "failed"
  }
}

const decodeImage = Schema.decodeEffect(
  Schema.fromJsonString(Schema.Struct({ data: Schema.Tuple([Schema.Struct({ url: Schema.String })]) }))
)
