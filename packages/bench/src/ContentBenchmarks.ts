/** Benchmarks of downloads over HTTP, compared with a server that only sends the same file. */
import { Effect, Random, Schema } from "effect"
import type { Dirent } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import {
  attempt,
  type Benchmark,
  BenchmarkFailure,
  type Contestant,
  type Environment,
  failingWith
} from "./Benchmark.ts"
import type * as Callers from "./Callers.ts"
import * as Costs from "./Costs.ts"
import * as DownloadCallers from "./DownloadCallers.ts"
import * as HttpCallers from "./HttpCallers.ts"
import type { HttpServer } from "./HttpServer.ts"
import * as KinoraServer from "./KinoraServer.ts"
import * as ServerProcess from "./ServerProcess.ts"

const mebibyte = 2 ** 20
const result = { mebibytes: 64, bytes: 64 * mebibyte } as const
const range = { bytes: 64 * 1024, total: 1_000 } as const

/** Number of connections. */
const connections = 8

/** All benchmarks of downloads. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  {
    name: "content",
    title: `MiB of a result of ${result.mebibytes} MiB, downloaded whole over HTTP, ${connections} connections`,
    compares: "perSecond",
    contestants: contestantsFor(
      Effect.succeed({ status: 200, bytes: result.bytes, counts: result.mebibytes, ranges: [undefined] })
    )
  },
  {
    name: "ranges",
    title: `Ranges of 64 KiB of such a result, ${range.total} random ones over and over, ${connections} connections`,
    compares: "perSecond",
    contestants: contestantsFor(
      Effect.map(
        Effect.replicateEffect(Random.nextIntBetween(0, result.bytes - range.bytes), range.total),
        (starts) => ({
          status: 206,
          bytes: range.bytes,
          counts: 1,
          ranges: starts.map((start) => `bytes=${start}-${start + range.bytes - 1}`)
        })
      )
    )
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The request that a round repeats. */
interface Downloads {
  readonly status: number
  /** Size of each response. */
  readonly bytes: number
  /** Number of operations that a response counts as. */
  readonly counts: number
  readonly ranges: ReadonlyArray<string | undefined>
}

/** The address of the file on a server. */
interface Place extends Pick<ServerProcess.RunningServer, "origin" | "processorSeconds"> {
  readonly name: string
  readonly path: string
  /** The server, if it has a database. */
  readonly server?: HttpServer
}

function contestantsFor(downloads: Effect.Effect<Downloads>): Benchmark["contestants"] {
  return Effect.fnUntraced(function*(environment) {
    const asked = yield* downloads
    const kinora = yield* KinoraServer.make(environment, { workers: 1, models: [model], settings })
    const place = yield* makeResult(kinora)
    const file = yield* fileOf(kinora)
    const peer = yield* ServerProcess.make({
      module: join(import.meta.dirname, "fastifyFiles.ts"),
      args: [file.parentPath],
      environment: {}
    })
    const path = `/${encodeURIComponent(file.name)}`
    return [
      contestantOf(place, asked, environment),
      contestantOf({ ...peer, name: "Fastify + @fastify/send", path }, asked, environment)
    ]
  })
}

const contestantOf = (
  { name, origin, path, processorSeconds, server }: Place,
  { bytes, counts, ranges, status }: Downloads,
  environment: Environment
): Contestant => {
  const { databaseSeconds, seconds, tidy } = environment
  const downloads = ranges.map((range) => ({ path, headers: range === undefined ? {} : { range } }))
  const downloadFrom = (origin: string): Effect.Effect<Callers.Calls, BenchmarkFailure> =>
    Effect.map(
      DownloadCallers.download({ origin, connections, seconds, status, bytes, downloads }),
      ({ count, round }) => ({
        count: count * counts,
        round: { ...round, perSecond: round.perSecond * counts }
      })
    )
  return {
    name,
    round: Effect.gen(function*() {
      if (server !== undefined) yield* tidy(server.database)
      const used = { databaseSeconds: server === undefined ? Effect.undefined : databaseSeconds }
      const times = yield* Costs.start(used, processorSeconds)
      const { count, round } = yield* downloadFrom(origin)
      return { ...round, ...yield* times(count) }
    }),
    ...server === undefined
      ? {}
      : { counted: Costs.counted(server, environment, { warmUp: downloadFrom, send: downloadFrom }) }
  }
}

/** A driver whose results are random bytes. */
const model = {
  id: "bytes",
  name: "Bytes",
  kind: "video",
  capabilities: ["text_to_video"],
  max_prompt_chars: 100,
  params_schema: [],
  price_table: [{ params: {}, credits: 1 }],
  driver: { name: "scripted", options: { bytes: result.bytes } },
  time_limit: "10 minutes",
  output_formats: ["video/mp4"]
} as const

/** All limits are enabled, but wide enough for one account to download one result repeatedly. */
const settings = {
  KINORA_DOWNLOAD_GIB_PER_DAY: "1000000",
  KINORA_DOWNLOAD_MULTIPLE: "1000",
  KINORA_DOWNLOAD_STREAMS: "1000"
}

/** Creates the result and returns its signed link, which needs no key. */
const makeResult = Effect.fnUntraced(function*(server: HttpServer) {
  const { makeKeys, origin } = server
  const [key = ""] = yield* makeKeys(1)
  const headers = { "authorization": `Bearer ${key}`, "content-type": "application/json" }
  const ask = (status: number, request: Pick<HttpCallers.Request, "method" | "path" | "body">) =>
    HttpCallers.send({ origin, connections: 1, seconds: 60, status, requests: [{ headers, ...request }] }).pipe(
      Effect.flatMap(({ bodies: [body = ""] }) => Schema.decodeEffect(Job)(body)),
      failingWith("The result could not be created")
    )
  const body = JSON.stringify({ plan: "credits", model: model.id, params: { prompt: "bytes" } })
  const { id } = yield* ask(201, { method: "POST", path: "/v1/generations", body })
  const { output } = yield* ask(200, { method: "GET", path: `/v1/generations/${id}?wait=60` })
  if (output === null) return yield* new BenchmarkFailure({ what: "The result was not created in time" })
  const { pathname, search } = new URL(output.url)
  const { name, processorSeconds } = server
  const place: Place = { name, origin, processorSeconds, path: pathname + search, server }
  return place
})

const Job = Schema.fromJsonString(Schema.Struct({
  id: Schema.String,
  output: Schema.NullOr(Schema.Struct({ url: Schema.String }))
}))

/** The file of the result: both servers read the same file. The other files are its previews. */
const fileOf = ({ files }: KinoraServer.KinoraServer): Effect.Effect<Dirent, BenchmarkFailure> =>
  attempt("The result has no file", async () => {
    for (const entry of await readdir(files, { recursive: true, withFileTypes: true })) {
      const { size } = await stat(join(entry.parentPath, entry.name))
      if (entry.isFile() && size === result.bytes) return entry
    }
    throw new Error(`no file of ${result.bytes} bytes in ${files}`)
  })
