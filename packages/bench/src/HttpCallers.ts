/** Callers of an HTTP server. Each has one connection and sends one request at a time. */
import type { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { type Dispatcher, Pool } from "undici"
import { attempt, type BenchmarkFailure, type RatedRound } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import { percentilesOf } from "./Statistics.ts"

/** A request. */
export interface Request {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The requests of a round, and their callers. */
export interface HttpCallersOptions {
  readonly origin: string
  readonly connections: number
  /** Ends the round, unless it runs out of requests first. */
  readonly seconds: number
  /** The expected status. Any other fails the round, since a refusal is faster than the work. */
  readonly status: number
  readonly requests: ReadonlyArray<Request>
}

/** The figures, the number of responses, and the bodies in the order of the requests. */
export interface Answers extends Callers.Calls {
  readonly bodies: ReadonlyArray<string>
}

/** Sends the requests in order and returns the bodies. */
export const send = (options: HttpCallersOptions): Effect.Effect<Answers, BenchmarkFailure> =>
  calling(options, async () => {
    const bodies: Array<string> = []
    const round = await sendAll(options, async (body, index) => {
      bodies[index] = await body.text()
    })
    return { round, bodies, count: bodies.length }
  })

/** Sends the requests at a constant rate, whether or not earlier ones have a response. Returns the responses per second. */
export const pace = (
  options: Omit<HttpCallersOptions, "seconds"> & { readonly perSecond: number }
): Effect.Effect<number, BenchmarkFailure> =>
  attempt(`The server at ${options.origin} did not do the work`, async () => {
    const { connections, origin, perSecond, requests, status } = options
    const pool = new Pool(origin, { connections, pipelining: 1 })
    const began = Callers.now()
    try {
      await Promise.all(requests.map(async (request, index) => {
        await setTimeout(index * 1000 / perSecond)
        const { body, statusCode } = await pool.request(request)
        const text = await body.text()
        if (statusCode !== status) throw new Error(`the response was ${statusCode}: ${text}`)
      }))
      return requests.length * 1000 / (Callers.now() - began)
    } finally {
      await pool.destroy()
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const calling = <A>({ origin }: HttpCallersOptions, call: () => Promise<A>): Effect.Effect<A, BenchmarkFailure> =>
  attempt(`The server at ${origin} did not do the work`, call)

const sendAll = async (
  { connections, origin, requests, seconds, status }: HttpCallersOptions,
  read: (body: Dispatcher.ResponseData["body"], index: number) => Promise<void>
): Promise<RatedRound> => {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const latencies: Array<number> = []
  const began = Callers.now()
  const deadline = began + seconds * 1000
  let next = 0
  const caller = async () => {
    while (next < requests.length && Callers.now() < deadline) {
      const index = next++
      const callBegan = Callers.now()
      const { body, statusCode } = await pool.request(requests[index]!)
      if (statusCode !== status) throw new Error(`the response was ${statusCode}: ${await body.text()}`)
      await read(body, index)
      latencies.push(Callers.now() - callBegan)
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, caller))
    const elapsed = Callers.now() - began
    return { perSecond: latencies.length * 1000 / elapsed, ...percentilesOf(latencies) }
  } finally {
    await pool.destroy()
  }
}
