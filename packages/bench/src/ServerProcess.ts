/** Servers in processes of their own, so that they share no heap and no event loop with those who call them. */
import { Effect, Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { attempt, BenchmarkFailure } from "./Benchmark.ts"

/** What to start. It says `{"base_url": …}` in a line when it is ready. */
export interface ServerProcessOptions {
  /** The module that is run by this Node, and what it is told. */
  readonly module: string
  readonly args: ReadonlyArray<string>
  /** Variables beside those of this process. */
  readonly environment: Readonly<Record<string, string>>
}

/** The URL of a server that runs until the scope closes. What it logs is seen here. */
export const make = ({ args, environment, module }: ServerProcessOptions) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [...process.execArgv, module, ...args], {
        env: { PATH: pathVariable(), ...environment },
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

/** Settings of the surrounding shell are not for the servers. */
const pathVariable = (): string => process.env["PATH"] ?? ""

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
