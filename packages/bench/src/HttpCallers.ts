/** Callers of an HTTP server: as many connections as callers, one request at a time on each. */
import type { Effect } from "effect"
import { Pool } from "undici"
import { attempt, type BenchmarkFailure, type Round } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import { percentilesOf } from "./Statistics.ts"

/** A request. */
export interface Request {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Who calls what. */
export interface HttpCallersOptions {
  readonly origin: string
  readonly connections: number
  /** Ends the round, unless the requests end before. */
  readonly seconds: number
  /** The only status that is right: a refusal would be faster than the work. */
  readonly status: number
  readonly requests: ReadonlyArray<Request>
}

/** The figures, and the bodies in the order of the requests if they are kept. */
export interface Answers {
  readonly round: Round
  readonly bodies: ReadonlyArray<string>
}

/** Sends the requests in order. */
export const send = (options: HttpCallersOptions): Effect.Effect<Answers, BenchmarkFailure> =>
  attempt(`The server at ${options.origin} did not do the work`, () => sendAll(options))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sendAll = async (options: HttpCallersOptions): Promise<Answers> => {
  const { connections, origin, requests, seconds, status } = options
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const bodies: Array<string> = []
  const latencies: Array<number> = []
  const began = Callers.now()
  const deadline = began + seconds * 1000
  let next = 0
  const caller = async () => {
    while (next < requests.length && Callers.now() < deadline) {
      const index = next++
      const callBegan = Callers.now()
      const response = await pool.request(requests[index]!)
      const body = await response.body.text()
      if (response.statusCode !== status) throw new Error(`it answered ${response.statusCode}: ${body}`)
      latencies.push(Callers.now() - callBegan)
      bodies[index] = body
    }
  }
  try {
    await Promise.all(Array.from({ length: connections }, caller))
    const elapsed = Callers.now() - began
    return { round: { perSecond: latencies.length * 1000 / elapsed, ...percentilesOf(latencies) }, bodies }
  } finally {
    await pool.destroy()
  }
}
