/** Delay of the event loop of a server that also renders videos. */
import * as DefaultModels from "@kinora/catalog/DefaultModels"
import type { ModelInput } from "@kinora/catalog/Model"
import { Effect } from "effect"
import { type Benchmark, BenchmarkFailure, type Contestant, type Environment, type Round } from "./Benchmark.ts"
import * as HttpCallers from "./HttpCallers.ts"
import * as KinoraJobs from "./KinoraJobs.ts"
import * as KinoraServer from "./KinoraServer.ts"

const perSecond = 200
const videos = 2
const connections = 64

/** All benchmarks of the event loop. */
export const benchmarks: ReadonlyArray<Benchmark> = [{
  name: "event-loop",
  title: `Delay of the event loop of a server that renders ${videos} videos of 720p, ${perSecond} requests per second`,
  compares: "p99",
  contestants: (environment) =>
    Effect.gen(function*() {
      const server = yield* KinoraServer.makeMeasured(environment, {
        workers: videos + 2,
        models: [DefaultModels.motion, quick],
        drivers: { procedural: { module: "@kinora/generator-procedural/ProceduralDriver", options } }
      })
      const jobs = yield* KinoraJobs.make(server)
      const alone: Contestant = { name: "kinora, without videos", round: measured(server, environment) }
      const beside: Contestant = {
        name: "kinora",
        round: Effect.gen(function*() {
          const rendering = yield* startVideos(jobs, environment)
          const round = yield* measured(server, environment)
          for (const { id } of rendering) {
            const { status } = yield* jobs.get(id)
            if (status !== "processing") return yield* new BenchmarkFailure({ what: `A video was ${status} too early` })
          }
          yield* Effect.forEach(rendering, ({ id }) => jobs.awaitEnd(id), { discard: true })
          return round
        })
      }
      return [beside, alone]
    })
}]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Both videos are drawn at the same time, on any number of cores. */
const options = { threads: videos, encoder: "wasm" }

/** Images that take no time. */
const quick: ModelInput = {
  ...DefaultModels.draft,
  id: "quick",
  params_schema: [],
  price_table: [{ params: {}, credits: 1 }],
  driver: { name: "scripted", options: { bytes: 4096 } }
}

type Jobs = Effect.Success<ReturnType<typeof KinoraJobs.make>>

/** Starts videos that take longer than the round, and returns once both are drawn. */
const startVideos = Effect.fnUntraced(function*({ create, get }: Jobs, { seconds }: Environment) {
  // A second of video takes more than a second of a core.
  const duration = Math.min(10, Math.max(2, Math.ceil(seconds)))
  const params = { prompt: "a lake at dawn, mist between the hills", resolution: "720p", duration }
  const created = yield* Effect.replicateEffect(create(DefaultModels.motion.id, params), videos)
  return yield* Effect.forEach(
    created,
    ({ id }) => Effect.repeat(get(id), { until: ({ status }) => status !== "queued" })
  )
})

/** Number of requests of an account: a key has 300 per minute. */
const requestsPerAccount = 250

/** Share of the requests that create a job: an account can create 120 per minute. */
const creating = 0.1

/** Sends reads of jobs, and a tenth of requests that create jobs, at a constant rate. Returns the delays meanwhile. */
const measured = Effect.fnUntraced(function*(server: KinoraServer.MeasuredKinoraServer, { seconds }: Environment) {
  const { measure, origin } = server
  const accounts = yield* Effect.replicateEffect(
    KinoraJobs.make(server),
    Math.ceil(perSecond * seconds / requestsPerAccount)
  )
  const reads = yield* Effect.forEach(
    accounts,
    ({ create, readOf }) => Effect.map(create(quick.id, { prompt: "a lake" }), ({ id }) => readOf(id))
  )
  const send = (status: number, share: number, requestOf: (n: number) => HttpCallers.Request) =>
    HttpCallers.pace({
      origin,
      connections,
      status,
      perSecond: perSecond * share,
      requests: Array.from({ length: Math.ceil(perSecond * seconds * share) }, (_, n) => requestOf(n))
    })
  yield* measure
  const rates = yield* Effect.all([
    send(200, 1 - creating, (n) => reads[n % reads.length]!),
    send(201, creating, (n) => accounts[n % accounts.length]!.createOf(quick.id, { prompt: "a lake" }))
  ], { concurrency: 2 })
  const { p50, p99 } = yield* measure
  const round: Round = { perSecond: rates[0] + rates[1], p50, p99 }
  return round
})
