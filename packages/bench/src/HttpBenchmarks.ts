/** Benchmarks of creating and reading jobs over HTTP, and of the image endpoint. */
import { DefaultModels } from "@kinora/catalog"
import { Effect } from "effect"
import type { Benchmark } from "./Benchmark.ts"
import * as HttpContestants from "./HttpContestants.ts"
import * as KinoraServer from "./KinoraServer.ts"
import { lean } from "./peers/Lean.ts"
import * as Peer from "./peers/Peer.ts"
import { peers } from "./peers/Peers.ts"

/** The model of the image endpoint. It takes no time and returns 4 KiB. */
const instant = {
  ...DefaultModels.draft,
  driver: { name: "scripted", options: { bytes: 4096 } }
}

/** One caller shows the latency of an operation, many show what a machine can do. */
const few = [4, 1]
const many = HttpContestants.defaultConnections

/** All benchmarks over HTTP. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  ...[many, ...few].map((connections) =>
    ofConnections(connections, "create", "Jobs created over HTTP, every limit on, nobody working", "creates")
  ),
  ...[many, ...few].map((connections) => ofConnections(connections, "get", "Jobs read over HTTP", "gets")),
  ofConnections(many, "replay", "Creations replayed over HTTP by their idempotency key", "replays"),
  {
    name: "image",
    title: `Images of the image endpoint, from request to answer, made in no time, ${many} connections`,
    compares: "perSecond",
    contestants: (environment) =>
      Effect.all([
        KinoraServer.make(environment, { workers: 16, models: [instant] }),
        Peer.start(lean, environment)
      ]).pipe(Effect.map((servers) => servers.map((server) => HttpContestants.make(server, environment).images)))
  }
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The benchmark with many connections has the name, one with few the name and their number. */
function ofConnections(
  connections: number,
  name: string,
  title: string,
  contestant: keyof HttpContestants.HttpContestants
): Benchmark {
  return {
    name: connections === many ? name : `${name}-${connections}`,
    title: `${title}, ${connections} connection${connections === 1 ? "" : "s"}`,
    compares: connections === many ? "perSecond" : "p50",
    contestants: (environment) =>
      Effect.all([
        KinoraServer.make(environment, { workers: 0 }),
        ...peers.map((peer) => Peer.start(peer, environment))
      ]).pipe(
        Effect.map((servers) =>
          servers.map((server) => HttpContestants.make(server, environment, connections)[contestant])
        )
      )
  }
}
