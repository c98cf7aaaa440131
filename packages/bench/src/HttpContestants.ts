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

/** Requests of a key in a round. It has 300 per minute; some have created its jobs. */
export const requestsPerKey = 280

/**
 * Prepares the contestants of a server. It warms up with many connections, since the compiler of V8 needs more calls than
 * one connection makes in a round. All limits of Kinora are enabled, so each round
 * has as many new accounts as the limits require: without a worker an account has room for
 * 28 jobs (8 slots, 20 pending), and a key has 300 requests per minute. Requests cycle
 * through some of the accounts, and then through the next ones.
 */
export const make = (
  server: HttpServer,
  environment: Environment,
  connections = defaultConnections
): HttpContestants => {
  const { creates, gets, images, replays } = requestsTo(server, environment.seconds)
  const counted = (status: number, requestsOf: RequestsOf) =>
    makeCounted(server, environment, { status, requestsOf, connections })
  return {
    creates: counted(201, creates),
    gets: counted(200, gets),
    replays: counted(200, replays),
    images: makeTimed(server, environment, { status: 200, requestsOf: images, connections })
  }
}

/** Requests of a round. */
export type Requests = ReadonlyArray<HttpCallers.Request>

/** Prepares the requests of a round with this number of connections. */
export type RequestsOf = (connections: number) => Effect.Effect<Requests, BenchmarkFailure>

/** The requests of a contestant, and their callers. */
export interface Sending {
  /** The expected status. */
  readonly status: number
  readonly requestsOf: RequestsOf
  readonly connections: number
}

/** A contestant with processor times. */
export const makeTimed = (server: HttpServer, environment: Environment, sending: Sending): Contestant => {
  const { connections, requestsOf } = sending
  const roundOf = (connections: number) =>
    Effect.flatMap(
      requestsOf(connections),
      (requests) =>
        Costs.timed(server, environment, sendTo(server.origin, environment, { ...sending, requests, connections }))
    )
  return { name: server.name, round: roundOf(connections), warmUp: roundOf(defaultConnections) }
}

/** A contestant with processor times, and with counts of statements, round trips and bytes of log. */
export const makeCounted = (server: HttpServer, environment: Environment, sending: Sending): Contestant => {
  const { connections, requestsOf } = sending
  return {
    ...makeTimed(server, environment, sending),
    counted: Effect.flatMap(requestsOf(connections), (requests) => {
      const first = Math.min(connections * accountsPerConnection, requests.length >> 1)
      return Costs.counted(server, environment, {
        warmUp: (origin) => sendTo(origin, environment, { ...sending, requests: requests.slice(0, first) }),
        send: (origin) => sendTo(origin, environment, { ...sending, requests: requests.slice(first) })
      })
    })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sendTo = (
  origin: string,
  { seconds }: Environment,
  { connections, requests, status }: Omit<Sending, "requestsOf"> & { readonly requests: Requests }
) => HttpCallers.send({ origin, connections, seconds, status, requests })

/** Prepares requests to a server: each kind with its accounts. */
const requestsTo = ({ makeKeys, origin }: HttpServer, seconds: number) => {
  const accountsFor = (perSecondMax: number, perConnection: number, requestsPerAccount: number, connections: number) =>
    Math.ceil(seconds * Math.min(perSecondMax, perConnection * connections) / requestsPerAccount)

  /** Creates accounts with one job each. */
  const makeJobs = Effect.fnUntraced(function*(connections: number) {
    const keys = yield* makeKeys(accountsFor(10_000, 3_000, requestsPerKey, connections))
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

  const creates: RequestsOf = (connections) =>
    Effect.map(
      makeKeys(accountsFor(5_000, 1_500, jobsPerAccount, connections)),
      (keys) =>
        inGroups(keys, connections * accountsPerConnection).flatMap((group) =>
          Array.from({ length: jobsPerAccount }, (_, n) => group.map((key) => createOf(key, `job-${n}`))).flat()
        )
    )
  const gets: RequestsOf = (connections) =>
    Effect.map(makeJobs(connections), (jobs) => repeated(jobs.map(({ id, key }) => getOf(key, id))))
  const replays: RequestsOf = (connections) =>
    Effect.map(makeJobs(connections), (jobs) => repeated(jobs.map(({ create }) => create)))
  const images: RequestsOf = (connections) =>
    Effect.map(
      makeKeys(Math.max(accountsForSlots(connections), accountsFor(2_000, 2_000, imagesPerAccount, connections))),
      (keys) => Array.from({ length: imagesPerAccount }, (_, n) => keys.map((key) => imageOf(key, `image-${n}`))).flat()
    )
  return { creates, gets, replays, images }
}

/** A server looks up a key with its first request, so few accounts at a time have requests. Enough that none wait for each other. */
const accountsPerConnection = 4

const inGroups = <A>(all: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))

const jobsPerAccount = 28
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
