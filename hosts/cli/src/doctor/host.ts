/** Checks of the settings of this directory and environment, and of what they name. */
import { Database, Drivers, Moderation, Oidc, type Settings, Stores } from "@kinora/hosting"
import { DatabaseTime, Migrations } from "@kinora/persistence"
import { Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import * as Finding from "./Finding.ts"

/** Checks the models, the database, the files, the keys and the address. */
export const checkHost = Effect.fnUntraced(function*(settings: Settings.Settings) {
  return [
    yield* checkModels(settings),
    ...(yield* checkDatabase(settings)),
    yield* checkFiles(settings),
    checkKeys(settings),
    checkAddress(settings)
  ]
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const checkModels = ({ driverFile, models, moderation, oidc }: Settings.Settings) =>
  Effect.scoped(Effect.all([
    Moderation.fromFile(moderation),
    Oidc.fromFile(oidc),
    Layer.build(Drivers.layer({ driverFile, models }))
  ])).pipe(
    Effect.as(Finding.ok("models", "the models, their drivers and the moderation are valid")),
    Finding.orFailure("models", "Correct kinora.config.yaml")
  )

const checkDatabase = (settings: Settings.Settings) => {
  const { databaseUrl: url, dataDirectory } = settings
  if (url === undefined) {
    return Effect.succeed([Finding.skipped("database", "the embedded database belongs to the process that uses it")])
  }
  const checks = Effect.all([checkServer(settings), checkSchema, checkClock])
  return Effect.provide(checks, Layer.fresh(Database.layer({ url, dataDirectory, maxConnections: 3 }))).pipe(
    Effect.catchTags({
      DatabaseEncodingUnsupported: ({ message }) =>
        Effect.succeed([
          Finding.failure("database", message, "Create a database with the encoding UTF8, and copy the data")
        ]),
      DatabaseUnavailable: ({ message }) =>
        Effect.succeed([
          Finding.failure("database", message, "Start Postgres, and check the URL, the password and the firewall")
        ])
    })
  )
}

const checkServer = ({ databasePoolSize }: Settings.Settings) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly version: string; readonly most: number; readonly used: number }>`
      SELECT
        current_setting('server_version') AS version,
        current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4 AS most,
        (SELECT count(*)::int4 FROM pg_stat_activity WHERE backend_type = 'client backend') AS used
    `
    const { most = 0, used = 0, version = "" } = row ?? {}
    const detail = `Postgres ${version}, ${used} of ${most} connections in use, ${databasePoolSize} for each process`
    return databasePoolSize > most - used
      ? Finding.warning(
        "database",
        detail,
        "Raise max_connections of Postgres, or lower KINORA_DATABASE_POOL_SIZE, unless this process runs already"
      )
      : Finding.ok("database", detail)
  }).pipe(Finding.orFailure("database", "Grant the role the right to read pg_stat_activity"))

const checkSchema = Migrations.check(Stores.migrations).pipe(
  Effect.as(Finding.ok("schema", "up to date")),
  Finding.orFailure("schema", "Run kinora migrate, or start a host of this release, which migrates too")
)

const checkClock = Effect.map(DatabaseTime.measureSkew(), ({ aheadMillis, roundTripMillis }) => {
  const certain = Math.max(0, Math.abs(aheadMillis) - roundTripMillis / 2)
  const detail = `${Math.round(certain)} ms from the clock of the database`
  return certain > 2_000
    ? Finding.failure("clock", detail, "Synchronize both clocks, for example with NTP; a host does not start above 2 s")
    : certain > 500
    ? Finding.warning("clock", detail, "Synchronize both clocks, for example with NTP")
    : Finding.ok("clock", detail)
}).pipe(Finding.orFailure("clock", "Make the database reachable"))

const checkFiles = ({ dataDirectory }: Settings.Settings) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = path.resolve(dataDirectory)
    if (!(yield* files.exists(directory))) {
      return Finding.warning("files", `${directory} does not exist`, "A host creates it; check KINORA_DATA_DIR")
    }
    const file = yield* files.makeTempFileScoped({ directory, prefix: ".kinora-doctor-" })
    yield* files.writeFileString(file, "written by kinora doctor")
    return Finding.ok("files", `${directory} is writable`)
  }).pipe(Effect.scoped, Finding.orFailure("files", "Let the user of the host write to KINORA_DATA_DIR"))

const checkKeys = ({ databaseUrl, urlSigningKeys, webhookKeys }: Settings.Settings) =>
  databaseUrl === undefined || urlSigningKeys.length > 0 && webhookKeys.length > 0
    ? Finding.ok("keys", databaseUrl === undefined ? "kept in the data directory" : "configured")
    : Finding.warning(
      "keys",
      "the keys of signed URLs and of webhook secrets are kept in the data directory",
      "If several hosts do not share the directory, set KINORA_URL_SIGNING_KEYS and KINORA_WEBHOOK_KEYS for all of them"
    )

const checkAddress = ({ baseUrl, host }: Settings.Settings) =>
  baseUrl === undefined && !["127.0.0.1", "::1", "localhost"].includes(host)
    ? Finding.warning(
      "address",
      `the server listens on ${host}, and the base URL is not set`,
      "Set KINORA_BASE_URL to the address that clients use, for links in responses and webhooks"
    )
    : Finding.ok("address", `the server listens on ${host}`)
