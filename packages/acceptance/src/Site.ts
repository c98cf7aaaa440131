/** A place where hosts run: a directory, a database and a configuration that nobody else has. */
import type { ModelInput } from "@kinora/catalog/Model"
import { Effect } from "effect"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** See the module's head. */
export interface Site {
  /** Where hosts keep their files, and PGlite its data. */
  readonly dataDirectory: string
  /** Empty for PGlite. */
  readonly databaseUrl: string
  /** What every host of this site is told. */
  readonly environment: Readonly<Record<string, string>>
}

/** What a site has. */
export interface SiteOptions {
  /** Of an empty Postgres. Empty: PGlite. */
  readonly databaseUrl: string
  /** Default: the models that are served when nothing is configured. */
  readonly models?: ReadonlyArray<ModelInput> | undefined
}

/** Makes a site; its directory is removed when the scope closes. */
export const make = Effect.fn("Site.make")(function*({ databaseUrl, models }: SiteOptions) {
  const directory = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-site-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
  )
  const config = join(directory, "kinora.config.yaml")
  // JSON is YAML.
  yield* Effect.promise(() => writeFile(config, JSON.stringify({ models })))
  const dataDirectory = join(directory, "data")
  const site: Site = {
    dataDirectory,
    databaseUrl,
    environment: {
      KINORA_CONFIG: config,
      KINORA_DATA_DIR: dataDirectory,
      KINORA_DATABASE_URL: databaseUrl,
      KINORA_PORT: "0",
      // Servers that share a database need the same keys, also those that start at the same moment.
      KINORA_URL_SIGNING_KEYS: "acceptance-acceptance-acceptance-acceptance",
      KINORA_WEBHOOK_KEYS: "acceptance-acceptance-acceptance-acceptance",
      KINORA_LOG_LEVEL: "warn"
    }
  }
  return site
})

/** The names of the stored files, without their directories. */
export const files = ({ dataDirectory }: Site): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const entries = await readdir(join(dataDirectory, "files", "blobs"), { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  })
