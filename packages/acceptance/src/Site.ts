/** A directory, a database and a configuration for the hosts of one test. */
import type { ModelInput } from "@kinora/catalog/Model"
import * as MemoryDirectory from "@kinora/testkit/MemoryDirectory"
import * as PgliteDump from "@kinora/testkit/PgliteDump"
import { Effect } from "effect"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** See the module. */
export interface Site {
  /** Directory of the hosts' files and of PGlite. */
  readonly dataDirectory: string
  /** Empty for PGlite. */
  readonly databaseUrl: string
  /** Settings of every host of the site. */
  readonly environment: Readonly<Record<string, string>>
}

/** Options of a site. */
export interface SiteOptions {
  /** URL of an empty Postgres, or empty for PGlite. */
  readonly databaseUrl: string
  /** Archive of an initialised PGlite directory. Default: the first host initialises it, which takes some seconds. */
  readonly pgliteDump?: string | undefined
  /** Default: the built-in models. */
  readonly models?: ReadonlyArray<ModelInput> | undefined
  /** Drivers by name, besides the built-in ones: their modules and options. Default: none. */
  readonly drivers?: Readonly<Record<string, DriverInput>> | undefined
}

/** A driver of the configuration file. */
export interface DriverInput {
  /** Absolute path or package. */
  readonly module: string
  readonly options: Readonly<Record<string, unknown>>
}

/** Creates a site. Its directory is removed when the scope closes. */
export const make = Effect.fn("Site.make")(function*({ databaseUrl, drivers, models, pgliteDump }: SiteOptions) {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(MemoryDirectory.parent(), "kinora-site-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  const config = join(directory, "kinora.config.yaml")
  // A document of JSON is also one of YAML.
  yield* Effect.promise(() => writeFile(config, JSON.stringify({ models, drivers })))
  const dataDirectory = join(directory, "data")
  if (databaseUrl === "" && pgliteDump !== undefined) {
    yield* Effect.promise(() => PgliteDump.unpack(pgliteDump, join(dataDirectory, "database")))
  }
  const site: Site = {
    dataDirectory,
    databaseUrl,
    environment: {
      KINORA_CONFIG: config,
      KINORA_DATA_DIR: dataDirectory,
      KINORA_DATABASE_URL: databaseUrl,
      KINORA_PORT: "0",
      // By default, only an embedded database gets a demo account.
      KINORA_DEMO_ACCOUNT: "true",
      // Servers that share a database need the same keys.
      KINORA_URL_SIGNING_KEYS: "acceptance-acceptance-acceptance-acceptance",
      KINORA_WEBHOOK_KEYS: "acceptance-acceptance-acceptance-acceptance",
      KINORA_LOG_LEVEL: "warn"
    }
  }
  return site
})

/** Names of the stored files, without their directories. */
export const files = ({ dataDirectory }: Site): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const entries = await readdir(join(dataDirectory, "files", "blobs"), { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  })
