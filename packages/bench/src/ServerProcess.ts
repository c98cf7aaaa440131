/** Servers in separate processes, which share no heap and no event loop with their callers. */
import { Effect, Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
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

/** A running server. */
export interface RunningServer {
  readonly origin: string
  readonly pid: number
  /** Processor time of the process since its start, user and system, in seconds. Undefined if the system does not report it. */
  readonly processorSeconds: Effect.Effect<number | undefined, BenchmarkFailure>
}

/** Starts a server that runs until the scope closes or this process ends. Its log goes to standard error. */
export const make = (options: ServerProcessOptions) => Effect.map(start(options, false), running)

/** A server whose process is measured. */
export interface MeasuredServer extends RunningServer {
  /** Reads the probe. The delays are those since the previous call. */
  readonly measure: Effect.Effect<Measurement, BenchmarkFailure>
  /** Sends a signal to the process. */
  readonly signal: (name: "SIGSTOP" | "SIGCONT") => Effect.Effect<void>
}

/** Starts a server like `make`, with a probe in its process. */
export const makeMeasured = (options: ServerProcessOptions) =>
  Effect.map(start(options, true), (started): MeasuredServer => ({
    ...running(started),
    signal: (name) => Effect.sync(() => void started.child.kill(name)),
    measure: ask(started.child, "measure", Measurement)
  }))

/** Delays of the event loop in milliseconds, processor time, and maximum resident memory with that of children. See `probe.ts`. */
const Measurement = Schema.Struct({
  p50: Schema.Number,
  p99: Schema.Number,
  cpuSeconds: Schema.Number,
  peakMebibytes: Schema.Number
})
/** Type of `Measurement`. */
export type Measurement = typeof Measurement.Type

/** Returns the first line that a program prints. */
export const firstLine = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error("no output")
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error("it ended before it was ready")
}

/** Stops a program, and waits for its end. */
export const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  await ended
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Started {
  readonly child: ChildProcess
  readonly origin: string
}

const running = ({ child, origin }: Started): RunningServer => ({
  origin,
  pid: child.pid ?? 0,
  processorSeconds: ask(child, "processor", Schema.Number)
})

/** Sends a message to a probe and returns its response. */
const ask = <A>(child: ChildProcess, message: string, response: Schema.ConstraintDecoder<A>) =>
  attempt("The process could not be measured", async () => {
    const answer = once(child, "message")
    child.send(message)
    const [measured] = await answer
    return Schema.decodeUnknownSync(response)(measured)
  })

const start = ({ args, environment, module }: ServerProcessOptions, measured: boolean) =>
  Effect.gen(function*() {
    const imports = ["endWithParent.ts", "processorProbe.ts", ...(measured ? ["probe.ts"] : [])]
      .map((module) => `--import=${join(import.meta.dirname, module)}`)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [...process.execArgv, ...imports, module, ...args], {
          env: { ...inherited(), ...environment },
          stdio: ["ignore", "pipe", "inherit", "ipc"]
        })
      ),
      (child) => Effect.promise(() => stop(child))
    )
    const line = yield* attempt(`${module} does not start`, () => firstLine(child))
    const { base_url: origin } = yield* Schema.decodeEffect(Ready)(line)
    return { child, origin }
  }).pipe(Effect.mapError((cause) => new BenchmarkFailure({ what: `${module} does not start`, cause })))

const Ready = Schema.fromJsonString(Schema.Struct({ base_url: Schema.String }))

/** Variables of the surrounding shell that apply to the servers. */
const inherited = () => ({ PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] })
