/** The HTTP benchmarks of one server. Kinora and its peers get the same requests. */
import { Effect, Schema } from "effect"
import { type BenchmarkFailure, type Contestant, type Environment, failingWith } from "./Benchmark.ts"
import * as Costs from "./Costs.ts"
import * as HttpCallers from "./HttpCallers.ts"
import type { HttpServer } from "./HttpServer.ts"

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

/** Number of connections, unless a benchmark has another. */
export const defaultConnections = 64

/**
 * Prepares the contestants of a server. All limits of Kinora are enabled, so each round
 * has as many new accounts as the limits require: without a worker an account has room for
 * 28 jobs (8 slots, 20 pending), and a key has 300 requests per minute. Requests cycle
 * through some of the accounts, and then through the next ones.
 */
export const make = (
  server: HttpServer,
  environment: Environment,
  connections = defaultConnections
): HttpContestants => {
  const { makeKeys, name, origin } = server
  const { seconds } = environment
  const sendTo = (origin: string, status: number, requests: Requests) =>
    HttpCallers.send({ origin, connections, seconds, status, requests })
  const uncounted = (status: number, requests: Effect.Effect<Requests, BenchmarkFailure>): Contestant => ({
    name,
    round: Effect.flatMap(requests, (requests) => Costs.timed(server, environment, sendTo(origin, status, requests)))
  })
  const contestant = (status: number, requests: Effect.Effect<Requests, BenchmarkFailure>): Contestant => ({
    ...uncounted(status, requests),
    counted: Effect.flatMap(requests, (requests) => {
      const first = Math.min(connections * accountsPerConnection, requests.length >> 1)
      return Costs.counted(server, environment, {
        warmUp: (origin) => sendTo(origin, status, requests.slice(0, first)),
        send: (origin) => sendTo(origin, status, requests.slice(first))
      })
    })
  })
  const accountsFor = (perSecondMax: number, perConnection: number, requestsPerAccount: number) =>
    Math.ceil(seconds * Math.min(perSecondMax, perConnection * connections) / requestsPerAccount)

  /** Creates accounts with one job each. */
  const makeJobs = Effect.gen(function*() {
    const keys = yield* makeKeys(accountsFor(10_000, 3_000, requestsPerKey))
    const creates = keys.map((key) => createOf(key, "job"))
    const { bodies } = yield* HttpCallers.send({
      origin,
      connections: defaultConnections,
      seconds: 60,
      status: 201,
      requests: creates
    })
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
        makeKeys(accountsFor(5_000, 1_500, jobsPerAccount)),
        (keys) =>
          inGroups(keys, connections * accountsPerConnection).flatMap((group) =>
            Array.from({ length: jobsPerAccount }, (_, n) => group.map((key) => createOf(key, `job-${n}`))).flat()
          )
      )
    ),
    gets: contestant(
      200,
      Effect.map(makeJobs, (jobs) => repeated(jobs.map(({ id, key }) => getOf(key, id))))
    ),
    replays: contestant(200, Effect.map(makeJobs, (jobs) => repeated(jobs.map(({ create }) => create)))),
    images: uncounted(
      200,
      Effect.map(
        makeKeys(Math.max(accountsForSlots(connections), accountsFor(2_000, 2_000, imagesPerAccount))),
        (keys) =>
          Array.from({ length: imagesPerAccount }, (_, n) => keys.map((key) => imageOf(key, `image-${n}`))).flat()
      )
    )
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Requests = ReadonlyArray<HttpCallers.Request>

/** A server looks up a key with its first request, so few accounts at a time have requests. Enough that none wait for each other. */
const accountsPerConnection = 4

const inGroups = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))

const jobsPerAccount = 28
/** A key has 300 requests per minute; some have created its jobs. */
const requestsPerKey = 280
/** An account can create 120 jobs per minute. */
const imagesPerAccount = 100
/** Enough accounts for each connection to have one of the 8 slots of its account. */
const accountsForSlots = (connections: number) => Math.ceil(connections / 8)

const repeated = (requests: Requests): Requests => Array.from({ length: requestsPerKey }, () => requests).flat()

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
