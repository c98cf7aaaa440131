/** Costs of an operation: processor time in the rounds that are timed, and counts of an HTTP server in a round of its own. */
import { Effect } from "effect"
import type { BenchmarkFailure, Counts, Environment, Round } from "./Benchmark.ts"
import type * as Callers from "./Callers.ts"
import type { HttpServer } from "./HttpServer.ts"
import * as PostgresProxy from "./PostgresProxy.ts"

/** Processor time of an operation. */
export type ProcessorTimes = Pick<Round, "serverMicros" | "databaseMicros">

/** Starts to measure processor times. Returns an effect that divides the times since then by a number of operations. */
export const start = Effect.fnUntraced(function*(
  { databaseSeconds }: Pick<Environment, "databaseSeconds">,
  processorSeconds: Effect.Effect<number | undefined, BenchmarkFailure> = ownSeconds
) {
  // The process last, and first at the end, since reading the times of the database takes time.
  const before = { database: yield* databaseSeconds, server: yield* processorSeconds }
  return Effect.fnUntraced(function*(count: number): Effect.fn.Return<ProcessorTimes, BenchmarkFailure> {
    const after = { server: yield* processorSeconds, database: yield* databaseSeconds }
    const micros = (figure: keyof ProcessorTimes, from: number | undefined, to: number | undefined): ProcessorTimes =>
      from === undefined || to === undefined ? {} : { [figure]: (to - from) * 1e6 / Math.max(1, count) }
    return {
      ...micros("serverMicros", before.server, after.server),
      ...micros("databaseMicros", before.database, after.database)
    }
  })
})

/** Does the work of a round on a tidy database. Adds the processor times of a server, or of this process, to the figures. */
export const timed = Effect.fnUntraced(function*(
  { database, processorSeconds }: { readonly database: string } & Partial<Pick<HttpServer, "processorSeconds">>,
  environment: Environment,
  work: Effect.Effect<Callers.Calls, BenchmarkFailure>
): Effect.fn.Return<Round, BenchmarkFailure> {
  yield* environment.tidy(database)
  const times = yield* start(environment, processorSeconds)
  const { count, round } = yield* work
  return { ...round, ...yield* times(count) }
})

/** Requests to the server of this origin. The first ones fill its caches. */
export interface CountedRequests {
  readonly warmUp: (origin: string) => Effect.Effect<unknown, BenchmarkFailure>
  readonly send: (origin: string) => Effect.Effect<Callers.Calls, BenchmarkFailure>
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Processor time of this process since its start, user and system, in seconds. */
const ownSeconds: Effect.Effect<number> = Effect.sync(() => {
  const { system, user } = process.cpuUsage()
  return (user + system) / 1e6
})
