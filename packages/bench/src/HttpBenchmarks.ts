/** Benchmarks of creating and reading jobs over HTTP, and of the image endpoint. */
import { DefaultModels } from "@kinora/catalog"
import { Effect } from "effect"
import type { Benchmark } from "./Benchmark.ts"
import * as FastifyHttp from "./FastifyHttp.ts"
import { connections, type HttpContestants } from "./HttpContestants.ts"
import * as KinoraHttp from "./KinoraHttp.ts"
import type { KinoraServerOptions } from "./KinoraServer.ts"

/** The model of the requests. It takes no time and returns 4 KiB. */
const instant = {
  ...DefaultModels.draft,
  driver: { name: "scripted", options: { bytes: 4096 } }
}

/** All benchmarks over HTTP. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  {
    name: "create",
    title: `Jobs created over HTTP, ${connections} connections, every limit on, nobody working`,
    ...ofServers(({ creates }) => creates)
  },
  {
    name: "get",
    title: `Jobs read over HTTP, ${connections} connections`,
    ...ofServers(({ gets }) => gets)
  },
  {
    name: "replay",
    title: `Creations replayed over HTTP by their idempotency key, ${connections} connections`,
    ...ofServers(({ replays }) => replays)
  },
  {
    name: "image",
    title: `Images of the image endpoint, from request to answer, made in no time, ${connections} connections`,
    ...ofServers(({ images }) => images, { workers: 16, models: [instant] })
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function ofServers(
  choose: (contestants: HttpContestants) => HttpContestants["creates"],
  options?: KinoraServerOptions
): Pick<Benchmark, "compares" | "contestants"> {
  return {
    compares: "perSecond",
    contestants: (environment) =>
      Effect.map(
        Effect.all([KinoraHttp.make(environment, options), FastifyHttp.make(environment)]),
        (servers) => servers.map(choose)
      )
  }
}
