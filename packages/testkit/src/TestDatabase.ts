/** Databases for test suites. Each suite gets an empty one that is dropped when the suite ends. */
import { PgClient, PgPool } from "@effect/sql-pg"
import { PgliteClient } from "@kinora/pglite"
import { Clock, Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import { inject } from "vitest"
import * as EmptyPglite from "./internal/emptyPglite.ts"
import * as InFlight from "./internal/inFlight.ts"
import * as PgliteDump from "./PgliteDump.ts"
export type { ProvidedContext } from "./internal/providedContext.ts"

/** A client to an empty database. */
export type TestDatabase = Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError>

/**
 * The reaper of the pool sleeps on the clock that the pool was built with. A test that
 * moves the `TestClock` by a year would wake it half a million times.
 */
const onLiveClock = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  Layer.provide(layer, Layer.succeed(Clock.Clock, Clock.Clock.defaultValue()))

/** `Pipelining.over` of `@kinora/persistence`, which depends on this package. */
export type Pipeline = (client: PgClient.PgClient, pool: PgPool.PgPool) => PgClient.PgClient

/** Connects to a database. With `pipeline`, transactions have half of the connections. */
export const connected = (options: PgClient.PgPoolConfig, pipeline?: Pipeline): TestDatabase =>
  onLiveClock(
    pipeline === undefined ? PgClient.layer(options) : PgClient.layerFrom(Effect.gen(function*() {
      const maxConnections = Math.ceil((options.maxConnections ?? 10) / 2)
      const client = yield* PgClient.make({ ...options, maxConnections })
      return pipeline(
        client,
        yield* PgPool.make({ ...options, maxConnections, multiplex: true, multiplexConcurrency: 1 })
      )
    }))
  )

const clientOf = (database?: string, pipeline?: Pipeline) => {
  const url = new URL(inject("postgresUrl"))
  if (database !== undefined) url.pathname = `/${database}`
  return connected({
    url: Redacted.make(url.href),
    maxConnections: 16,
    stream: () => InFlight.connect(url.hostname, Number(url.port))
  }, pipeline)
}

/** Provides a database on the Postgres server of the run, through a client whose transactions pipeline if `pipeline` is given. */
export const postgresWith = (pipeline?: Pipeline): TestDatabase =>
  Layer.unwrap(Effect.map(Effect.suspend(() => emptyDatabase), (name) => clientOf(name, pipeline))).pipe(
    Layer.provide(Layer.suspend(() => clientOf())),
    onLiveClock
  )

/** Provides a database on the Postgres server of the run. */
export const postgres: TestDatabase = postgresWith()

/** Creates a database on the Postgres server of the run and returns its URL, for processes that connect themselves. */
export const postgresUrl: Effect.Effect<string, SqlError.SqlError, Scope.Scope> = Effect.gen(function*() {
  const admin = yield* Layer.build(onLiveClock(clientOf()))
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${yield* Effect.provideContext(emptyDatabase, admin)}`
  return url.href
})

/** Provides an empty PGlite in memory. Suites that follow each other in a process share one, which is emptied in between. */
export const pglite: TestDatabase = PgliteClient.layerFrom(EmptyPglite.acquire).pipe(onLiveClock)

/**
 * Unpacks the dump for hosts into a directory, which need not exist. Spares a host of a test the initialisation of its
 * embedded database, which costs four seconds of processor time, and in most runs the migrations, which cost one.
 */
export const unpackPglite = (directory: string): Effect.Effect<void> =>
  Effect.promise(() => PgliteDump.unpack(inject("hostPgliteDump"), directory))

/**
 * Both databases, with their names in test titles, and the number of concurrent callers with which a suite tests
 * transactions. Postgres runs them on all connections of a pool. PGlite has one connection, so its transactions run one
 * after the other: 100 callers are more than a set of folded calls holds (64), and more would repeat the same schedule.
 */
export const all: ReadonlyArray<readonly [name: string, database: TestDatabase, callers: number]> = [
  ["PGlite", pglite, 100],
  ["Postgres", postgres, 400]
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emptyDatabase = Effect.gen(function*() {
  const admin = yield* SqlClient.SqlClient
  const name = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(
    // The default strategy also writes every page to the log.
    admin`CREATE DATABASE ${admin(name)} STRATEGY file_copy`,
    () => Effect.orDie(admin`DROP DATABASE ${admin(name)} WITH (FORCE)`)
  )
  // A statement that depends on the zone of its session returns another day here.
  yield* admin`ALTER DATABASE ${admin(name)} SET timezone TO 'Pacific/Kiritimati'`
  return name
})
