/** Servers that respond with a job from memory: bounds of any server on the same HTTP library. */
import { Effect } from "effect"
import { join } from "node:path"
import * as HttpCallers from "../HttpCallers.ts"
import * as ServerProcess from "../ServerProcess.ts"
import { callers, type Probe } from "./Probe.ts"

/** Measures `node:http`, Fastify and Effect's `HttpApi`, each in a process of its own. */
export const probe: Probe = ({ seconds }) =>
  Effect.forEach(servers, ({ program, what }) =>
    Effect.gen(function*() {
      const module = join(import.meta.dirname, program)
      const { origin } = yield* ServerProcess.make({ module, args: [], environment: {} })
      const send = (connections: number, seconds: number) =>
        HttpCallers.send({ origin, connections, seconds, status: 200, requests: requestsFor(seconds) })
      // Compiles the server.
      yield* send(64, seconds / 4)
      return yield* Effect.forEach(callers, (connections) =>
        Effect.map(send(connections, seconds), ({ round: { p50 = 0, perSecond } }) => ({
          what,
          callers: connections,
          perSecond,
          p50
        })))
    }).pipe(Effect.scoped)).pipe(Effect.map((limits) => limits.flat()))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const servers = [
  { what: "a response of `node:http`", program: "nodeServer.ts" },
  { what: "a response of Fastify", program: "fastifyServer.ts" },
  { what: "a response of Effect's `HttpApi`", program: "httpApiServer.ts" }
]

const request: HttpCallers.Request = {
  method: "GET",
  path: "/v1/generations/gen_01",
  headers: { authorization: "Bearer key_0123456789" }
}

/** More than any server responds to. */
const perSecondMax = 50_000

const requestsFor = (seconds: number) => Array.from({ length: Math.ceil(seconds * perSecondMax) }, () => request)
