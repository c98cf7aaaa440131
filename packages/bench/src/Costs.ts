/** Costs of an operation of an HTTP server: processor time in the rounds that are timed, and counts in a round of its own. */
import { Effect } from "effect"
import type { BenchmarkFailure, Counts, Environment, Round } from "./Benchmark.ts"
import type { Answers } from "./HttpCallers.ts"
import type { HttpServer } from "./HttpServer.ts"
import * as PostgresProxy from "./PostgresProxy.ts"

/** Sends the requests of a round on a tidy database. Adds the processor times to the figures. */
export const timed = Effect.fnUntraced(function*(
  { database, processorSeconds }: HttpServer,
  { databaseSeconds, tidy }: Environment,
  send: Effect.Effect<Answers, BenchmarkFailure>
): Effect.fn.Return<Round, BenchmarkFailure> {
  yield* tidy(database)
  const times = Effect.all({ server: processorSeconds, database: databaseSeconds })
  const before = yield* times
  const { count, round } = yield* send
  const after = yield* times
  const microsOf = (from: number, to: number) => (to - from) * 1e6 / Math.max(1, count)
  return {
    ...round,
    serverMicros: microsOf(before.server, after.server),
    ...(before.database === undefined || after.database === undefined
      ? {}
      : { databaseMicros: microsOf(before.database, after.database) })
  }
})

/** Requests to the server of this origin. The first ones fill its caches. */
export interface CountedRequests {
  readonly warmUp: (origin: string) => Effect.Effect<unknown, BenchmarkFailure>
  readonly send: (origin: string) => Effect.Effect<Answers, BenchmarkFailure>
}

/**
 * Sends requests to a second process of the server, whose connections to the database pass a proxy.
 */
export const counted = Effect.fnUntraced(function*(
  { database, startOn }: HttpServer,
  { log }: Environment,
  { send, warmUp }: CountedRequests
) {
  const proxy = yield* PostgresProxy.make(database)
  const { origin } = yield* startOn(proxy.url)
  yield* warmUp(origin)
  const end = yield* log.end
  const before = yield* proxy.sent
  const { count } = yield* send(origin)
  const after = yield* proxy.sent
  const each = (from: number, to: number) => (to - from) / Math.max(1, count)
  const counts: Counts = {
    statements: each(before.statements, after.statements),
    roundTrips: each(before.roundTrips, after.roundTrips),
    walBytes: each(0, yield* log.bytesSince(end))
  }
  return counts
})
