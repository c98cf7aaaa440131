/** Servers in separate processes, which share no heap and no event loop with their callers. */
import { Effect, Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { attempt, BenchmarkFailure } from "./Benchmark.ts"

/** The program to start. It prints the line `{"base_url": …}` when it is ready. */
export interface ServerProcessOptions {
  /** The module to run with this Node, and its arguments. */
  readonly module: string
  readonly args: ReadonlyArray<string>
  /** Additional environment variables. */
  readonly environment: Readonly<Record<string, string>>
}

/** Starts a server that runs until the scope closes, and returns its URL. Its log goes to standard error. */
export const make = ({ args, environment, module }: ServerProcessOptions) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [...process.execArgv, module, ...args], {
        env: { ...inherited(), ...environment },
        stdio: ["ignore", "pipe", "inherit"]
      })
    ),
    (child) => Effect.promise(() => stop(child))
  ).pipe(
    Effect.flatMap((child) => attempt(`${module} does not start`, () => firstLine(child))),
    Effect.flatMap(Schema.decodeEffect(Ready)),
    Effect.mapError((cause) => new BenchmarkFailure({ what: `${module} does not start`, cause })),
    Effect.map(({ base_url }) => base_url)
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Ready = Schema.fromJsonString(Schema.Struct({ base_url: Schema.String }))

/** Variables of the surrounding shell that apply to the servers. */
const inherited = () => ({ PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] })

const firstLine = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error("no output")
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error("it ended before it was ready")
}

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  await ended
}
