/** Redis servers for tests. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as InFlight from "./internal/inFlight.ts"
import * as MemoryDirectory from "./MemoryDirectory.ts"

const program = "redis-server"

/** Whether a server can be started. In continuous integration it has to be installed. */
export const isInstalled: boolean = process.env["CI"] !== undefined || spawnSync(program, ["--version"]).status === 0

/** Runs a command as one that `TestTime` waits for. */
export const during = InFlight.during

/** A running server. */
export interface TestRedis {
  /** The path of its socket. */
  readonly socket: string
  /** Stops its work without ending it, until `resume`. */
  readonly freeze: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

/** Starts an empty server that keeps nothing. It ends with the scope. */
export const start: Effect.Effect<TestRedis, never, Scope.Scope> = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(MemoryDirectory.parent(), "kinora-redis-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  const socket = join(directory, "redis.sock")
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(program, ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", directory])
        // A program that is missing has no output, which `ready` reports.
        .on("error", () => {})
    ),
    (server) => Effect.promise(() => ended(server))
  )
  yield* Effect.promise(() => ready(server))
  return {
    socket,
    freeze: Effect.sync(() => server.kill("SIGSTOP")),
    resume: Effect.sync(() => server.kill("SIGCONT"))
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ended = (server: ChildProcess) =>
  new Promise<void>((resolve) => {
    const hasEnded = server.exitCode !== null || server.signalCode !== null
    if (server.pid === undefined || hasEnded) return resolve()
    server.once("exit", () => resolve())
    server.kill("SIGKILL")
  })

/** Waits for the line that the server prints when it accepts connections. */
const ready = async (server: ReturnType<typeof spawn>) => {
  const printed: Array<string> = []
  if (server.stdout === null) throw new Error("Redis has no output")
  const lines = createInterface({ input: server.stdout })
  for await (const line of lines) {
    printed.push(line)
    if (line.includes("eady to accept connections")) {
      // The server must not wait for a reader of its output.
      server.stdout.resume()
      return
    }
  }
  throw new Error(`Redis did not start:\n${printed.join("\n")}`)
}
