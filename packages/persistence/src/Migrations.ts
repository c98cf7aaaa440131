/**
 * Schema changes of one package, kept in a table of its own.
 *
 * The migrator runs only ids above the highest recorded one, so packages must
 * not share a table: the second one's migrations would be skipped in silence.
 */
import { Cause, Data, Effect, Layer } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { StorageError } from "./StorageError.ts"
import * as Storage from "./StorageError.ts"

/** The migrations of one package. */
export interface Migrations {
  /** Prefix of the package's tables; the ledger of migrations is `<namespace>_migrations`. */
  readonly namespace: string
  /**
   * Keyed `0001_what_it_does`; the number orders them. Never edit one that was
   * released: expand first, contract in a later one.
   */
  readonly migrations: Readonly<Record<string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>>>
}

/** The schema in the database is not one that this build can work with. */
export class SchemaMismatch extends Data.TaggedError("SchemaMismatch")<{
  readonly namespace: string
  /** Newest migration that this build knows. */
  readonly known: number
  /** Newest migration that the database has. */
  readonly found: number
}> {
  override get message(): string {
    return this.found > this.known
      ? `The database's schema of ${this.namespace} is at ${this.found}, this build knows ${this.known}: run a newer build`
      : `The database's schema of ${this.namespace} is at ${this.found}, this build needs ${this.known}: run the migrations`
  }
}

/**
 * Brings the database up to what this build knows, package by package. Any number
 * of hosts may do so at the same time. Refuses a database that is newer.
 */
export const run = (
  packages: ReadonlyArray<Migrations>
): Effect.Effect<void, SchemaMismatch | StorageError, SqlClient.SqlClient> =>
  Effect.forEach(packages, runOne, { discard: true }).pipe(Effect.withSpan("Migrations.run"))

/** Fails unless the database has exactly the schema that this build knows. Runs no DDL. */
export const check = (
  packages: ReadonlyArray<Migrations>
): Effect.Effect<void, SchemaMismatch | StorageError, SqlClient.SqlClient> =>
  Effect.forEach(packages, (self) =>
    Effect.flatMap(newestFound(self), (found) => {
      const known = newestKnown(self)
      return found === known
        ? Effect.void
        : Effect.fail(new SchemaMismatch({ namespace: self.namespace, known, found }))
    }), { discard: true }).pipe(Effect.withSpan("Migrations.check"))

/** Runs the migrations while the layer is built. */
export const layer = (
  ...packages: ReadonlyArray<Migrations>
): Layer.Layer<never, SchemaMismatch | StorageError, SqlClient.SqlClient> => Layer.effectDiscard(run(packages))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const runOne = Effect.fnUntraced(function*(self: Migrations) {
  const found = yield* newestFound(self)
  const known = newestKnown(self)
  if (found > known) {
    return yield* new SchemaMismatch({ namespace: self.namespace, known, found })
  }
  if (found === known) return
  yield* Migrator.make({})({
    loader: Migrator.fromRecord(self.migrations as Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>),
    table: tableOf(self)
  }).pipe(
    Effect.catchCause((cause) => {
      const failure = failureIn(cause)
      return failure?.isRetryable === true ? Effect.fail(failure) : Effect.die(Cause.squash(cause))
    })
  )
})

/** The backend's failure, also where the migrator keeps what a migration failed with. */
const failureIn = (cause: Cause.Cause<unknown>): StorageError | undefined => {
  const error = Cause.squash(cause)
  const inner = error instanceof Migrator.MigrationError ? Cause.fail(error.cause) : cause
  return Storage.findInCause("Migrations.run", inner)
}

const tableOf = (self: Migrations) => `${self.namespace}_migrations`

const newestKnown = (self: Migrations) =>
  Math.max(0, ...Object.keys(self.migrations).map((name) => Number.parseInt(name, 10)))

const newestFound = Effect.fnUntraced(function*(self: Migrations) {
  const sql = yield* SqlClient.SqlClient
  const table = tableOf(self)
  const [exists] = yield* sql<{ readonly found: boolean }>`SELECT to_regclass(${table}) IS NOT NULL AS found`
  if (exists?.found !== true) return 0
  const [newest] = yield* sql<{ readonly id: number }>`SELECT coalesce(max(migration_id), 0) AS id FROM ${sql(table)}`
  return newest?.id ?? 0
}, Storage.mapSql("Migrations.check"))
