/** Benchmark of calls that wait for their jobs (`?wait=60`). */
import * as DefaultModels from "@kinora/catalog/DefaultModels"
import { Effect } from "effect"
import { type Benchmark, BenchmarkFailure, type Environment, type Round } from "./Benchmark.ts"
import * as Costs from "./Costs.ts"
import type { HttpServer } from "./HttpServer.ts"
import * as KinoraJobs from "./KinoraJobs.ts"
import * as KinoraServer from "./KinoraServer.ts"
import { openStalled } from "./neighbours/openStalled.ts"

const calls = 1_000
/** A key can have 20 calls that wait. */
const callsPerKey = 20
/** A call waits for up to 60 seconds. */
const secondsMax = 50

/** All benchmarks of waiting calls. */
export const benchmarks: ReadonlyArray<Benchmark> = [{
  name: "waiting",
  title: `A second of a server at which ${calls.toLocaleString("en")} calls wait for jobs that do not end`,
  // An operation is a second, so there is only processor time, and no rate to compare.
  compares: "perSecond",
  contestants: (environment) =>
    Effect.map(KinoraServer.make(environment, { workers: 0 }), (server) => [
      { name: `kinora, ${calls.toLocaleString("en")} calls wait`, round: waiting(server, environment) },
      { name: "kinora, none waits", round: Effect.andThen(settle, costsOfSecond(server, environment)) }
    ])
}]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const waiting = Effect.fnUntraced(function*(server: HttpServer, environment: Environment) {
  const requests = yield* requestsTo(server)
  const outcomes: Array<string> = []
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const controller = new AbortController()
      const held = openStalled({
        origin: server.origin,
        connections: requests.length,
        tally: (status) => outcomes.push(status),
        signal: controller.signal,
        bytesOf: (n) => requests[n % requests.length] ?? ""
      })
      return { controller, held }
    }),
    ({ controller, held }) =>
      Effect.promise(() => {
        controller.abort()
        return held
      })
  )
  yield* settle
  // The server refuses calls at first, since so many begin at once. They are repeated, until all wait.
  yield* Effect.repeat(countNew(outcomes), { until: (count) => count === 0 })
  const refusals = outcomes.length
  const round = yield* costsOfSecond(server, environment)
  // A call that does not wait gets its job at once.
  const wrong = outcomes.filter((outcome, index) => index >= refusals || outcome.startsWith("2"))
  if (wrong.length > 0) {
    return yield* new BenchmarkFailure({ what: `${wrong.length} calls did not wait, the first got ${wrong[0]}` })
  }
  return round
})

/** The time for calls to begin, or for those of the round before to end. */
const settle = Effect.sleep("5 seconds")

/** Returns the number of outcomes of 2 seconds. A refused call is repeated after one. */
const countNew = (outcomes: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const before = outcomes.length
    return Effect.map(Effect.sleep("2 seconds"), () => outcomes.length - before)
  })

/** Processor times of a second. */
const costsOfSecond = Effect.fnUntraced(function*(server: HttpServer, environment: Environment) {
  const seconds = Math.min(secondsMax, Math.max(1, environment.seconds))
  yield* environment.tidy(server.database)
  const times = yield* Costs.start(environment, server.processorSeconds)
  yield* Effect.sleep(seconds * 1000)
  const round: Round = yield* times(seconds)
  return round
})

/** Creates jobs that no worker runs. Returns requests that wait for them. */
const requestsTo = Effect.fnUntraced(function*(server: HttpServer) {
  const waits = Effect.gen(function*() {
    const { create, readOf } = yield* KinoraJobs.make(server)
    const { id } = yield* create(DefaultModels.draft.id, { prompt: "a lake" })
    const { headers, method, path } = readOf(id, 60)
    const lines = Object.entries({ host: "127.0.0.1", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    return Array.from({ length: callsPerKey }, () => `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`)
  })
  return (yield* Effect.replicateEffect(waits, calls / callsPerKey)).flat()
})
