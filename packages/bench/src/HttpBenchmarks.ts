/** Creating and reading jobs over HTTP. */
import { Effect } from "effect"
import type { Benchmark } from "./Benchmark.ts"
import * as FastifyHttp from "./FastifyHttp.ts"
import { connections, type HttpContestants } from "./HttpContestants.ts"
import * as KinoraHttp from "./KinoraHttp.ts"

/** All of them. */
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
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function ofServers(
  choose: (contestants: HttpContestants) => HttpContestants["creates"]
): Pick<Benchmark, "compares" | "contestants"> {
  return {
    compares: "perSecond",
    contestants: (environment) =>
      Effect.map(
        Effect.all([KinoraHttp.make(environment), FastifyHttp.make(environment)]),
        (servers) => servers.map(choose)
      )
  }
}
