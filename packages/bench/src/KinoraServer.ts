/** The server in its own process, on its own database and directory. */
import type { ModelInput } from "@kinora/catalog/Model"
import { Effect, Layer } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { attempt, type BenchmarkFailure, type Environment, failingWith } from "./Benchmark.ts"
import type { HttpServer } from "./HttpServer.ts"
import * as KinoraAccounts from "./KinoraAccounts.ts"
import * as KinoraServices from "./KinoraServices.ts"
import * as ServerProcess from "./ServerProcess.ts"

/** A running server. */
export interface KinoraServer extends HttpServer {
  /** The directory of its results, one file each. */
  readonly files: string
  /** Creates this many accounts with a key each. Default: 20,000 credits each. */
  readonly makeAccounts: (
    count: number,
    credits?: number
  ) => Effect.Effect<ReadonlyArray<KinoraAccounts.AccountWithKey>, BenchmarkFailure>
  /** Creates a further key of each account. */
  readonly makeFurtherKeys: (
    accounts: ReadonlyArray<KinoraAccounts.AccountWithKey>
  ) => Effect.Effect<ReadonlyArray<string>, BenchmarkFailure>
}

/** Options of a server. */
export interface KinoraServerOptions {
  /** Maximum number of concurrent jobs. */
  readonly workers: number
  /** Default: the default models. */
  readonly models?: ReadonlyArray<ModelInput>
  /** Drivers by name, as in a configuration file. Default: the built-in ones. */
  readonly drivers?: Readonly<Record<string, unknown>>
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts the server. Its accounts are created by the services of this process. */
export const make = Effect.fnUntraced(function*(environment: Environment, options: KinoraServerOptions) {
  const { program, server } = yield* prepare(environment, options)
  const running: KinoraServer = { ...server, ...yield* ServerProcess.make(program) }
  return running
})

/** A running server whose process is measured. */
export interface MeasuredKinoraServer extends KinoraServer, ServerProcess.MeasuredServer {}

/** Starts the server like `make`, with a probe in its process. */
export const makeMeasured = Effect.fnUntraced(function*(environment: Environment, options: KinoraServerOptions) {
  const { program, server } = yield* prepare(environment, options)
  const running: MeasuredKinoraServer = { ...server, ...yield* ServerProcess.makeMeasured(program) }
  return running
})

/** Starts two such servers on one database. The second has no workers. */
export const makeMeasuredPair = Effect.fnUntraced(function*(environment: Environment, options: KinoraServerOptions) {
  const { program, server } = yield* prepare(environment, options)
  const second = { ...program, environment: { ...program.environment, KINORA_WORKERS: "0" } }
  const first: MeasuredKinoraServer = { ...server, ...yield* ServerProcess.makeMeasured(program) }
  return [first, { ...server, ...yield* ServerProcess.makeMeasured(second) } satisfies MeasuredKinoraServer] as const
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const repository = join(import.meta.dirname, "../../..")

/** The program of the server, relative to the repository. */
const main = "hosts/server/src/main.ts"

/** Directory of the bundled programs, in tests. They load in a third of the time. If unset, the server runs from source. */
const bundled = process.env["ACCEPTANCE_PROGRAMS"]

/** Creates the database and the directory of a server. */
const prepare = Effect.fnUntraced(function*(environment: Environment, options: KinoraServerOptions) {
  const url = yield* environment.database
  const services = yield* Layer.build(KinoraServices.layer(url)).pipe(failingWith("Kinora does not start"))
  const directory = yield* Effect.acquireRelease(
    attempt("No directory for the server", () => mkdtemp(join(tmpdir(), "kinora-bench-data-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const config = join(directory, "kinora.config.yaml")
  // JSON is YAML.
  yield* attempt(
    "No configuration for the server",
    () => writeFile(config, JSON.stringify({ models: options.models, drivers: options.drivers }))
  )
  const program: ServerProcess.ServerProcessOptions = {
    module: bundled === undefined ? join(repository, main) : join(bundled, main.replace(/\.ts$/, ".js")),
    args: ["--json"],
    environment: {
      KINORA_CONFIG: config,
      KINORA_DATABASE_URL: url,
      KINORA_DATA_DIR: join(directory, "data"),
      KINORA_DEMO_ACCOUNT: "true",
      KINORA_PORT: "0",
      KINORA_WORKERS: String(options.workers),
      KINORA_LOG_LEVEL: "warn",
      // A server sets it for itself (`FreedMemory`), unless it has a channel to its parent, as here.
      MALLOC_MMAP_THRESHOLD_: "131072",
      ...options.settings
    }
  }
  const makeAccounts: KinoraServer["makeAccounts"] = (count, credits) =>
    KinoraAccounts.make(count, credits).pipe(
      Effect.provideContext(services),
      failingWith("The accounts could not be created")
    )
  const server: Omit<KinoraServer, keyof ServerProcess.RunningServer> = {
    name: "kinora",
    database: url,
    files: join(directory, "data", "files", "blobs"),
    startOn: (database) =>
      ServerProcess.make({ ...program, environment: { ...program.environment, KINORA_DATABASE_URL: database } }),
    makeAccounts,
    makeFurtherKeys: (accounts) =>
      KinoraAccounts.makeKeys(accounts.map(({ id }) => id)).pipe(
        Effect.provideContext(services),
        failingWith("The keys could not be created")
      ),
    makeKeys: (count, credits) => Effect.map(makeAccounts(count, credits), (accounts) => accounts.map(({ key }) => key))
  }
  return { program, server }
})
