/** The HTTP benchmarks of one server. Kinora and its peer get the same requests. */
import { Effect, Schema } from "effect"
import { type BenchmarkFailure, type Contestant, type Environment, failingWith } from "./Benchmark.ts"
import * as HttpCallers from "./HttpCallers.ts"

/** A server under test. */
export interface HttpServer {
  readonly name: string
  readonly origin: string
  readonly database: string
  /** Creates this many accounts and returns their keys. */
  readonly makeKeys: (count: number) => Effect.Effect<ReadonlyArray<string>, BenchmarkFailure>
}

/** The contestants of one server. */
export interface HttpContestants {
  /** Creates jobs, each with a new idempotency key. */
  readonly creates: Contestant
  /** Reads jobs. */
  readonly gets: Contestant
  /** Repeats requests that have created jobs. */
  readonly replays: Contestant
  /** Creates images with the image endpoint, which responds when the image exists. */
  readonly images: Contestant
}

/** Number of connections. */
export const connections = 64

/**
 * Prepares the contestants of a server. All limits of Kinora are enabled, so each round
 * has as many new accounts as the limits require: without a worker an account has room for
 * 28 jobs (8 slots, 20 pending), and a key has 300 requests per minute. Requests cycle
 * through the accounts.
 */
export const make = (
  { database, makeKeys, name, origin }: HttpServer,
  { seconds, tidy }: Environment
): HttpContestants => {
  const send = (status: number, requests: ReadonlyArray<HttpCallers.Request>) =>
    HttpCallers.send({ origin, connections, seconds, status, requests })
  const contestant = (
    status: number,
    requests: Effect.Effect<ReadonlyArray<HttpCallers.Request>, BenchmarkFailure>
  ): Contestant => ({
    name,
    round: requests.pipe(
      Effect.tap(() => tidy(database)),
      Effect.flatMap((requests) => send(status, requests)),
      Effect.map(({ round }) => round)
    )
  })

  /** Creates accounts with one job each. */
  const makeJobs = Effect.gen(function*() {
    const keys = yield* makeKeys(Math.ceil(seconds * perSecondMax.read / requestsPerKey))
    const creates = keys.map((key) => createOf(key, "job"))
    const { bodies } = yield* send(201, creates)
    const jobs = yield* Effect.forEach(bodies, (body) => decodeJob(body)).pipe(
      failingWith("A job could not be decoded")
    )
    if (jobs.length < keys.length) return yield* Effect.die(new Error("The jobs to read were not created in time"))
    return jobs.map(({ id }, index) => ({ id, key: keys[index]!, create: creates[index]! }))
  })

  return {
    creates: contestant(
      201,
      Effect.map(
        makeKeys(Math.ceil(seconds * perSecondMax.create / jobsPerAccount)),
        (keys) => Array.from({ length: jobsPerAccount }, (_, n) => keys.map((key) => createOf(key, `job-${n}`))).flat()
      )
    ),
    gets: contestant(
      200,
      Effect.map(makeJobs, (jobs) => repeated(jobs.map(({ id, key }) => getOf(key, id))))
    ),
    replays: contestant(200, Effect.map(makeJobs, (jobs) => repeated(jobs.map(({ create }) => create)))),
    images: contestant(
      200,
      Effect.map(
        makeKeys(Math.max(accountsForSlots, Math.ceil(seconds * perSecondMax.image / imagesPerAccount))),
        (keys) =>
          Array.from({ length: imagesPerAccount }, (_, n) => keys.map((key) => imageOf(key, `image-${n}`))).flat()
      )
    )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** An upper bound of any contestant. It limits the preparation; a round ends early if it runs out of requests. */
const perSecondMax = { create: 5_000, read: 10_000, image: 2_000 } as const

const jobsPerAccount = 28
/** A key has 300 requests per minute; some have created its jobs. */
const requestsPerKey = 280
/** An account can create 120 jobs per minute. */
const imagesPerAccount = 100
/** Enough accounts for each connection to have one of the 8 slots of its account. */
const accountsForSlots = Math.ceil(connections / 8)

const repeated = (requests: ReadonlyArray<HttpCallers.Request>): ReadonlyArray<HttpCallers.Request> =>
  Array.from({ length: requestsPerKey }, () => requests).flat()

const body = JSON.stringify({
  plan: "credits",
  model: "kinora-draft",
  params: { prompt: "a lake at dawn, mist between the hills", aspect_ratio: "16:9" }
})

const createOf = (key: string, idempotencyKey: string): HttpCallers.Request => ({
  method: "POST",
  path: "/v1/generations",
  headers: {
    "authorization": `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": idempotencyKey
  },
  body
})

const image = JSON.stringify({
  plan: "credits",
  model: "kinora-draft",
  prompt: "a lake at dawn, mist between the hills",
  size: "1024x1024"
})

const imageOf = (key: string, idempotencyKey: string): HttpCallers.Request => ({
  ...createOf(key, idempotencyKey),
  path: "/v1/images/generations",
  body: image
})

const getOf = (key: string, id: string): HttpCallers.Request => ({
  method: "GET",
  path: `/v1/generations/${id}`,
  headers: { authorization: `Bearer ${key}` }
})

const decodeJob = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ id: Schema.String })))
