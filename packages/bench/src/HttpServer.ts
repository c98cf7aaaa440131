/** A server of the HTTP benchmarks, and of others that create jobs. */
import type { Effect, Scope } from "effect"
import type { BenchmarkFailure } from "./Benchmark.ts"
import type * as ServerProcess from "./ServerProcess.ts"

/** A server under test. */
export interface HttpServer extends ServerProcess.RunningServer {
  readonly name: string
  readonly database: string
  /** Creates this many accounts and returns their keys. Default: 20,000 credits each. */
  readonly makeKeys: (count: number, credits?: number) => Effect.Effect<ReadonlyArray<string>, BenchmarkFailure>
  /** Starts the program once more, with another URL of the same database. */
  readonly startOn: (
    database: string
  ) => Effect.Effect<ServerProcess.RunningServer, BenchmarkFailure, Scope.Scope>
}
