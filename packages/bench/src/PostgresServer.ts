/** The Postgres of the measurement, with default durability. */
// Only this module: the package as a whole requires a test runner.
import * as EmbeddedPostgres from "@kinora/testkit/EmbeddedPostgres"
import { Effect, Option, type Scope } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { attempt, type BenchmarkFailure } from "./Benchmark.ts"
import * as ProcessTimes from "./ProcessTimes.ts"
import * as WriteAheadLog from "./WriteAheadLog.ts"

/** A server and its databases. */
export interface PostgresServer {
  /** URL of the maintenance database. */
  readonly url: string
  /** The version, and the settings that determine the cost of a commit. */
  readonly description: string
  /** The URL of a new, empty database, dropped with the scope. */
  readonly database: Effect.Effect<string, BenchmarkFailure, Scope.Scope>
  /** Vacuums a database and writes its pages to disk. */
  readonly tidy: (database: string) => Effect.Effect<void, BenchmarkFailure>
  /** Processor time of all its processes, in seconds. Undefined if this module did not start it. */
  readonly databaseSeconds: Effect.Effect<number | undefined, BenchmarkFailure>
  readonly log: WriteAheadLog.WriteAheadLog<BenchmarkFailure>
}

/** Connects to the server of this URL, or starts one that stops when the scope closes. */
export const make = Effect.fnUntraced(function*(
  given: Option.Option<string>
): Effect.fn.Return<PostgresServer, BenchmarkFailure, Scope.Scope> {
  const { pid, url } = Option.isSome(given) ? { url: given.value, pid: undefined } : yield* started
  const description = yield* attempt("Postgres does not respond", () => withClient(url, describe))
  let count = 0
  return {
    url,
    description,
    database: Effect.suspend(() => {
      const name = `kinora_bench_${process.pid}_${++count}`
      return Effect.acquireRelease(
        attempt("A database could not be created", () => run(url, `CREATE DATABASE ${name}`)),
        () => Effect.ignore(attempt("", () => run(url, `DROP DATABASE ${name} WITH (FORCE)`)))
      ).pipe(Effect.as(urlOf(url, name)))
    }),
    tidy: (database) => attempt("VACUUM failed", () => run(database, "VACUUM (ANALYZE)", "CHECKPOINT")),
    databaseSeconds: attempt(
      "The processes of Postgres could not be measured",
      async () => pid === undefined ? undefined : ProcessTimes.secondsOfTree(pid)
    ),
    log: WriteAheadLog.make((use) => attempt("The log could not be read", () => withClient(url, use)))
  }
})

/** Runs statements on a new connection. */
export const run = (url: string, ...statements: ReadonlyArray<string>): Promise<void> =>
  withClient(url, async (client) => {
    for (const statement of statements) await client.query(statement)
  })

/** Deletes all rows of these tables. */
export const truncate = (url: string, ...tables: ReadonlyArray<string>): Effect.Effect<void, BenchmarkFailure> =>
  attempt("Rows could not be deleted", () => run(url, `TRUNCATE ${tables.join(", ")}`))

/** Opens a connection and closes it afterwards. */
export const withClient = async <A>(url: string, use: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const directory = Effect.acquireRelease(
  attempt("No directory for Postgres", async () => {
    const path = await mkdtemp(join(tmpdir(), "kinora-bench-"))
    // A server started by root runs as another user.
    await chmod(path, 0o755)
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const started = Effect.gen(function*() {
  const path = yield* directory
  const { url } = yield* Effect.acquireRelease(
    attempt("Postgres does not start", () => EmbeddedPostgres.start(path, {})),
    (server) => Effect.promise(() => server.stop())
  )
  const pid = yield* attempt("Postgres does not respond", () =>
    withClient(url, async (client) => {
      await client.query(WriteAheadLog.extension)
      return pidOf(client)
    }))
  return { url, pid }
})

/** The first line of this file is the process that starts the others. */
const pidOf = async (client: Client): Promise<number> => {
  const { rows: [row] } = await client.query<{ file: string }>("SELECT pg_read_file('postmaster.pid') AS file")
  return Number.parseInt(row?.file ?? "", 10)
}

const shown = ["fsync", "synchronous_commit", "wal_sync_method", "shared_buffers", "max_connections"]

const describe = async (client: Client): Promise<string> => {
  const { rows: [version] } = await client.query<{ server_version: string }>("SHOW server_version")
  const { rows } = await client.query<{ name: string; setting: string }>(
    "SELECT name, current_setting(name) AS setting FROM pg_settings WHERE name = ANY($1) ORDER BY name",
    [shown]
  )
  return `PostgreSQL ${version?.server_version}, ${rows.map(({ name, setting }) => `${name} ${setting}`).join(", ")}`
}

const urlOf = (server: string, database: string): string => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
