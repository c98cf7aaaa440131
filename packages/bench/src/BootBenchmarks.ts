/** Benchmarks of starts of the server as `npm start` runs it, until it accepts requests. */
import { Effect, type Scope } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { attempt, type Benchmark, type BenchmarkFailure, type Environment, type Round } from "./Benchmark.ts"
import * as Callers from "./Callers.ts"
import { root } from "./Checkout.ts"
import * as ProcessMemory from "./ProcessMemory.ts"
import * as ServerProcess from "./ServerProcess.ts"

/** All benchmarks of starts. */
export const benchmarks: ReadonlyArray<Benchmark> = [
  ofStarts("fresh", "First starts of the server, in an empty directory, on the embedded database", () => fresh),
  ofStarts("again", "Further starts of the server on the embedded database", () => again({})),
  ofStarts(
    "postgres",
    "Further starts of the server on a Postgres",
    ({ database }) => Effect.flatMap(database, (url) => again({ KINORA_DATABASE_URL: url }))
  )
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type RoundOfStart = Effect.Effect<Round, BenchmarkFailure, Scope.Scope>

function ofStarts(
  name: string,
  title: string,
  roundOf: (environment: Environment) => Effect.Effect<RoundOfStart, BenchmarkFailure, Scope.Scope>
): Benchmark {
  return {
    name: `boot-${name}`,
    title: `${title}, and its memory`,
    compares: "readySeconds",
    contestants: (environment) =>
      Effect.gen(function*() {
        yield* attempt("The program could not be bundled", async () => prepareProgram())
        return [{ name: "kinora", round: yield* roundOf(environment) }]
      })
  }
}

const makeDirectory = Effect.acquireRelease(
  attempt("No directory for the server", () => mkdtemp(join(tmpdir(), "kinora-bench-boot-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Each round has a new directory. */
const fresh: Effect.Effect<RoundOfStart> = Effect.succeed(
  Effect.flatMap(makeDirectory, (directory) => start(directory, {}, stableMillis))
)

/** Starts a server once before the rounds. */
const again = Effect.fnUntraced(function*(settings: Readonly<Record<string, string>>) {
  const directory = yield* makeDirectory
  yield* Effect.scoped(start(directory, settings, 0))
  return start(directory, settings, stableMillis)
})

/** Time after which the memory is read, in milliseconds. */
const stableMillis = 2_000

/** Starts a server and stops it when the scope closes. */
const start = Effect.fnUntraced(function*(
  directory: string,
  settings: Readonly<Record<string, string>>,
  idleMillis: number
) {
  const began = Callers.now()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      // Without a channel, which `npm start` does not have either: the server replaces itself to return freed memory.
      spawn(process.execPath, [...program, "--json"], {
        cwd: directory,
        env: {
          PATH: process.env["PATH"],
          KINORA_DATA_DIR: join(directory, "data"),
          KINORA_PORT: "0",
          KINORA_LOG_LEVEL: "warn",
          ...settings
        },
        stdio: ["ignore", "pipe", "inherit"]
      })
    ),
    (child) => Effect.promise(() => ServerProcess.stop(child))
  )
  yield* attempt("The server does not start", () => ServerProcess.firstLine(child))
  const readySeconds = (Callers.now() - began) / 1000
  yield* Effect.sleep(idleMillis)
  const pid = child.pid ?? 0
  const [resident, peak] = [ProcessMemory.residentBytesOfTree(pid), ProcessMemory.peakBytesOf(pid)]
  const round: Round = {
    readySeconds,
    ...(resident === 0 ? {} : { residentMebibytes: resident / 2 ** 20, peakMebibytes: peak / 2 ** 20 })
  }
  return round
})

/** Directory of the bundled programs, in tests. */
const bundled = process.env["ACCEPTANCE_PROGRAMS"]

const programs = join(root, "tools/programs")

/** The arguments of Node in the script `start` of the repository. */
const program = bundled === undefined
  ? ["--conditions=@kinora/source", join(programs, "start.js"), "server"]
  : [join(bundled, "hosts/server/src/main.js")]

/** Bundles the program, as `npm ci` does, so that no round bundles it after a change of the sources. */
const prepareProgram = (): void => {
  if (bundled !== undefined) return
  const { status } = spawnSync(process.execPath, [join(programs, "write.ts")], {
    stdio: ["ignore", "ignore", "inherit"]
  })
  if (status !== 0) throw new Error(`write.ts ended with ${status}`)
}
