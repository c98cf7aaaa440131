/** Databases for suites: each suite gets one of its own, empty, that lives as long as it. */
import { PgClient } from "@effect/sql-pg"
import { PgliteClient } from "@kinora/pglite"
import { Clock, Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import { openAsBlob } from "node:fs"
import { inject } from "vitest"
export type { ProvidedContext } from "./internal/providedContext.ts"

/** A client to an empty database. */
export type TestDatabase = Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError>

/**
 * The pool's reaper sleeps on the clock that it was built with. On a test's clock
 * a jump of a year would wake it half a million times.
 */
const onLiveClock = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  Layer.provide(layer, Layer.succeed(Clock.Clock, Clock.Clock.defaultValue()))

const clientOf = (database?: string) => {
  const url = new URL(inject("postgresUrl"))
  if (database !== undefined) url.pathname = `/${database}`
  return PgClient.layer({ url: Redacted.make(url.href), maxConnections: 16 })
}

/** A database of the run's Postgres server, dropped with the suite. */
export const postgres: TestDatabase = Layer.unwrap(Effect.gen(function*() {
  const name = yield* emptyDatabase
  return clientOf(name)
})).pipe(Layer.provide(Layer.suspend(() => clientOf())), onLiveClock)

/** The URL of a database of the run's Postgres server, for processes that connect by themselves. */
export const postgresUrl: Effect.Effect<string, SqlError.SqlError, Scope.Scope> = Effect.gen(function*() {
  const admin = yield* Layer.build(onLiveClock(clientOf()))
  const url = new URL(inject("postgresUrl"))
  url.pathname = `/${yield* Effect.provideContext(emptyDatabase, admin)}`
  return url.href
})

/** A PGlite in memory, started from the run's dump. */
export const pglite: TestDatabase = Layer.unwrap(
  Effect.map(
    Effect.promise(() => openAsBlob(inject("pgliteDump"))),
    (loadDataDir) => PgliteClient.layer({ loadDataDir })
  )
).pipe(onLiveClock)

/** Both, with the names that suites show. */
export const all: ReadonlyArray<readonly [name: string, database: TestDatabase]> = [
  ["PGlite", pglite],
  ["Postgres", postgres]
]

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const emptyDatabase = Effect.gen(function*() {
  const admin = yield* SqlClient.SqlClient
  const name = `test_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(
    admin`CREATE DATABASE ${admin(name)}`,
    () => Effect.orDie(admin`DROP DATABASE ${admin(name)} WITH (FORCE)`)
  )
  return name
})
