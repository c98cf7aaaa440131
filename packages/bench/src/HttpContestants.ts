/** The HTTP benchmarks of one server: the same requests for ours and for its peer. */
import { Effect, Schema } from "effect"
import { type BenchmarkFailure, type Contestant, type Environment, failingWith } from "./Benchmark.ts"
import * as HttpCallers from "./HttpCallers.ts"

/** A server that takes the requests. */
export interface HttpServer {
  readonly name: string
  readonly origin: string
  readonly database: string
  /** The keys of this many new accounts. */
  readonly makeKeys: (count: number) => Effect.Effect<ReadonlyArray<string>, BenchmarkFailure>
}

/** What may be done to a server, as contestants. */
export interface HttpContestants {
  /** Creates jobs, each request with an idempotency key of its own. */
  readonly creates: Contestant
  /** Reads jobs. */
  readonly gets: Contestant
  /** Sends creations again that were answered before. */
  readonly replays: Contestant
  /** Has images made by the image endpoint, each answered once it is there. */
  readonly images: Contestant
}

/** Connections of the callers. */
export const connections = 64

/**
 * The requests of a round, prepared before it. Every limit of ours stays on, so each
 * round has new accounts, as many as the limits ask for: an account has room for 28
 * jobs while nobody works on them (8 slots, 20 places to wait), a key for 300 requests
 * a minute. Requests take turns among the accounts.
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

  /** New accounts with a job each. */
  const makeJobs = Effect.gen(function*() {
    const keys = yield* makeKeys(Math.ceil(seconds * perSecondMax.read / requestsPerKey))
    const creates = keys.map((key) => createOf(key, "job"))
    const { bodies } = yield* send(201, creates)
    const jobs = yield* Effect.forEach(bodies, (body) => decodeJob(body)).pipe(failingWith("A job was not understood"))
    if (jobs.length < keys.length) return yield* Effect.die(new Error("The jobs to read were not made in time"))
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

/** Nobody is expected to answer more; it bounds what is prepared, and a round that has no more requests ends. */
const perSecondMax = { create: 5_000, read: 10_000, image: 2_000 } as const

const jobsPerAccount = 28
/** Of 300 that a key may make in a minute, some have made its jobs. */
const requestsPerKey = 280
/** Of 120 that an account may create in a minute. */
const imagesPerAccount = 100
/** As many as give each connection one of the 8 slots of its account. */
const accountsForSlots = Math.ceil(connections / 8)

const repeated = (requests: ReadonlyArray<HttpCallers.Request>): ReadonlyArray<HttpCallers.Request> =>
  Array.from({ length: requestsPerKey }, () => requests).flat()

const body = JSON.stringify({
  plan: "credits",
  model: "kinora-sketch-1",
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
  model: "kinora-sketch-1",
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
