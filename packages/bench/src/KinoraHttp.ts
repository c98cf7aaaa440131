/** The HTTP benchmarks of the real server. */
import { Effect } from "effect"
import type { Environment } from "./Benchmark.ts"
import * as HttpContestants from "./HttpContestants.ts"
import * as KinoraServer from "./KinoraServer.ts"

/** Starts the server, by default with the default models and without a worker. */
export const make = (environment: Environment, options: KinoraServer.KinoraServerOptions = { workers: 0 }) =>
  Effect.map(
    KinoraServer.make(environment, options),
    (server) => HttpContestants.make(server, environment)
  )
