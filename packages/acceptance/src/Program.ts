/** Server and worker as processes that can be stopped and killed. */
import { Data, Effect, Result, Schema, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { tmpdir } from "node:os"
import { basename, join, relative } from "node:path"
import { createInterface } from "node:readline"

/** A host program. */
export type Name = "server" | "worker"

/** A script of a test, run as a process. */
export interface Script {
  /** Path of the script. */
  readonly file: string
  readonly args: ReadonlyArray<string>
}

/** Output of a process. */
export interface Printed {
  readonly stdout: string
  readonly stderr: string
}

/** How a process ended, and everything that it printed. */
export interface Ended extends Printed {
  /** `null` if a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The process ended before it was ready. */
export class NotReady extends Data.TaggedError("NotReady")<{ readonly program: string; readonly ended: Ended }> {
  override get message(): string {
    const { code, signal, stderr } = this.ended
    return `The ${this.program} ended with ${code ?? signal} before it was ready:\n${stderr}`
  }
}

/** A started process. */
export interface Program {
  readonly pid: number
  /** Waits for the end of the process. */
  readonly ended: Effect.Effect<Ended>
  /** Stops it with SIGTERM and waits for its end. */
  readonly stop: Effect.Effect<Ended>
  /** Kills it with SIGKILL and waits for its end. */
  readonly kill: Effect.Effect<Ended>
  /** Output so far. */
  readonly printed: Effect.Effect<Printed>
  /** Bytes of heap and buffers in use after a garbage collection. Measured programs only. */
  readonly memoryInUse: Effect.Effect<number>
}

/** A running server. */
export interface Server extends Program {
  readonly baseUrl: string
  /** API key of the demo account, if this server created it. */
  readonly apiKey: string | null
  /** Its processes, if it has several. */
  readonly processes: ReadonlyArray<{ readonly pid: number; readonly operatorUrl: string | null }>
}

/** Runs a program with only these settings. Killed when the scope closes. */
export const start = (
  name: Name,
  environment: Readonly<Record<string, string>>
): Effect.Effect<Program, never, Scope.Scope> => Effect.map(launch(name, environment), ({ program }) => program)

/** Starts a server and waits until it accepts requests. */
export const startServer = (environment: Readonly<Record<string, string>>) => launchServer(environment, false)

/** Starts a server whose memory can be read. */
export const startMeasuredServer = (environment: Readonly<Record<string, string>>) => launchServer(environment, true)

/** Starts a script and waits for its first line. */
export const startScript = Effect.fn("Program.startScript")(
  function*(script: Script, environment: Readonly<Record<string, string>> = {}) {
    const launched = yield* launch(script, environment)
    yield* launched.firstLine
    return launched.program
  }
)

/** Starts a worker and waits until it is ready. */
export const startWorker = (environment: Readonly<Record<string, string>>) => launchWorker(environment, false)

/** Starts a worker whose memory can be read. */
export const startMeasuredWorker = (environment: Readonly<Record<string, string>>) => launchWorker(environment, true)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const repository = join(import.meta.dirname, "../../..")

/** Compile cache of all programs that tests start. It saves a third of the processor time for loading the sources. */
const compileCache = process.env["NODE_COMPILE_CACHE"] ?? join(tmpdir(), "kinora-compile-cache")

/** Directory of the bundled programs, which load in a third of the time. If unset, programs run from source. */
const bundles = process.env["ACCEPTANCE_PROGRAMS"]

const ServerLine = Schema.fromJsonString(
  Schema.Struct({
    base_url: Schema.String,
    api_key: Schema.NullOr(Schema.String),
    processes: Schema.optionalKey(
      Schema.Array(Schema.Struct({ pid: Schema.Int, operator_url: Schema.NullOr(Schema.String) }))
    )
  })
)

interface Launched {
  readonly program: Program
  /** First line on standard output, which both programs print when they are ready. */
  readonly firstLine: Effect.Effect<string, NotReady>
}

const launch = Effect.fnUntraced(function*(
  what: Name | Script,
  environment: Readonly<Record<string, string>>,
  measured = false
) {
  const name = typeof what === "string" ? what : basename(what.file)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => run(typeof what === "string" ? hostOf(what) : what, name, environment, measured)),
    ({ ended, process }) => endBy(process, ended, "SIGKILL")
  )
  const { ended, line, output, process } = child
  const program: Program = {
    pid: process.pid ?? 0,
    ended: Effect.promise(() => ended),
    stop: endBy(process, ended, "SIGTERM"),
    kill: endBy(process, ended, "SIGKILL"),
    printed: Effect.sync(() => ({ ...output })),
    memoryInUse: measured ? askProbe(process) : Effect.die(new Error(`The ${name} is not measured`))
  }
  const launched: Launched = {
    program,
    firstLine: Effect.flatMap(
      Effect.promise(() => line),
      (line) => Effect.fromResult(Result.mapError(line, (ended) => new NotReady({ program: name, ended })))
    )
  }
  return launched
})

const launchServer = Effect.fn("Program.startServer")(function*(
  environment: Readonly<Record<string, string>>,
  measured: boolean
) {
  const launched = yield* launch("server", environment, measured)
  const line = yield* launched.firstLine
  const { api_key, base_url, processes = [] } = yield* Schema.decodeEffect(ServerLine)(line).pipe(Effect.orDie)
  const server: Server = {
    ...launched.program,
    baseUrl: base_url,
    apiKey: api_key,
    processes: processes.map(({ operator_url: operatorUrl, pid }) => ({ pid, operatorUrl }))
  }
  return server
})

const launchWorker = Effect.fn("Program.startWorker")(function*(
  environment: Readonly<Record<string, string>>,
  measured: boolean
) {
  const launched = yield* launch("worker", environment, measured)
  yield* launched.firstLine
  return launched.program
})

const endBy = (process: ChildProcess, ended: Promise<Ended>, signal: "SIGTERM" | "SIGKILL") =>
  Effect.promise(() => {
    process.kill(signal)
    return ended
  })

/**
 * Responds to messages of the parent process. Collects garbage twice, because buffers are released after their owners.
 */
const probe = `data:text/javascript,${
  encodeURIComponent(`
    process.on("message", () => {
      gc()
      gc()
      const { external, heapUsed } = process.memoryUsage()
      process.send(external + heapUsed)
    })
    process.channel.unref()
  `)
}`

const askProbe = (process: ChildProcess) =>
  Effect.callback<unknown>((resume) => {
    process.once("message", (memory) => resume(Effect.succeed(memory)))
    process.send("memory")
  }).pipe(Effect.flatMap(Schema.decodeUnknownEffect(Schema.Number)), Effect.orDie)

const hostOf = (name: Name): Script => ({ file: join(repository, "hosts", name, "src/main.ts"), args: ["--json"] })

const bundleOf = (file: string): string =>
  bundles === undefined ? file : join(bundles, relative(repository, file).replace(/\.ts$/, ".js"))

const run = (
  { args, file }: Script,
  name: string,
  environment: Readonly<Record<string, string>>,
  measured: boolean
) => {
  const options = [
    "--conditions=@kinora/source",
    "--enable-source-maps",
    // Most hosts run for seconds. Optimizing the embedded database sooner costs half a second of processor time per start.
    "--wasm-tiering-budget=100000000",
    ...(measured ? ["--expose-gc", `--import=${probe}`] : [])
  ]
  const child = spawn(process.execPath, [...options, bundleOf(file), ...args], {
    // Several workers of a test run on this machine at once.
    env: { NODE_COMPILE_CACHE: compileCache, ...(name === "worker" ? { KINORA_ADMIN_PORT: "0" } : {}), ...environment },
    stdio: ["ignore", "pipe", "pipe", measured ? "ipc" : "ignore"]
  })
  const { stderr, stdout } = child
  if (stdout === null || stderr === null) throw new Error(`The ${name} has no output`)
  const output = { stdout: "", stderr: "" }
  stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text
  })
  stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject)
    // `close` is emitted after all output has been read.
    child.once("close", (code, signal) => resolve({ code, signal, ...output }))
  })
  const line = new Promise<Result.Result<string, Ended>>((resolve, reject) => {
    createInterface(stdout).once("line", (text) => resolve(Result.succeed(text)))
    ended.then((ended) => resolve(Result.fail(ended)), reject)
  })
  return { process: child, ended, line, output }
}
