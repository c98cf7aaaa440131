/** Benchmarks of a server with one process and with two, which listen on the same port. */
import { Effect } from "effect"
import { attempt, type Benchmark, type BenchmarkFailure, type Environment } from "./Benchmark.ts"
import * as HttpContestants from "./HttpContestants.ts"
import type { HttpServer } from "./HttpServer.ts"
import * as KinoraServer from "./KinoraServer.ts"
import * as ProcessTimes from "./ProcessTimes.ts"

const connections = HttpContestants.defaultConnections

/** All benchmarks of processes. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  ofServers("create", "Jobs created over HTTP", "creates"),
  ofServers("get", "Jobs read over HTTP", "gets")
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

function ofServers(name: string, title: string, contestant: keyof HttpContestants.HttpContestants): Benchmark {
  return {
    name: `processes-${name}`,
    title: `${title}, as in **${name}**, by a server with two processes and with one, ${connections} connections`,
    compares: "perSecond",
    contestants: (environment) =>
      Effect.forEach([2, 1], (processes) =>
        Effect.map(
          start(environment, processes),
          (server) => HttpContestants.make(server, environment)[contestant]
        ))
  }
}

const start = Effect.fnUntraced(function*(environment: Environment, processes: number) {
  const running = yield* KinoraServer.make(environment, {
    workers: 0,
    settings: {
      // The listeners for operators of several processes have fixed ports, and the round that counts starts the server once more.
      KINORA_ADMIN_PORT: "off",
      // Earlier commits do not have the setting.
      ...(processes === 1 ? {} : { KINORA_PROCESSES: `${processes}` })
    }
  })
  const server: HttpServer = {
    ...running,
    name: processes === 1 ? "kinora, 1 process" : `kinora, ${processes} processes`,
    processorSeconds: secondsOf(running.pid)
  }
  return server
})

/** The process that was started, and its children. */
const secondsOf = (pid: number): Effect.Effect<number | undefined, BenchmarkFailure> =>
  attempt("The processes could not be measured", () => ProcessTimes.secondsOfTree(pid))
