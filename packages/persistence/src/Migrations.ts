/**
 * Runs the schema migrations of packages, each recorded in a table of its package.
 *
 * The migrator runs only ids above the highest recorded one. Packages must not share
 * a table, since the migrations of the second one would be skipped silently.
 */
import { Cause, Data, Duration, Effect, Layer, Schedule } from "effect"
import { Migrator, SqlClient, type SqlError, type Statement } from "effect/sql"
import * as DatabaseSchema from "./DatabaseSchema.ts"
import * as ConcurrentIndexes from "./internal/concurrentIndexes.ts"
import * as LockTimeout from "./internal/lockTimeout.ts"
import { brandOf, isInstance } from "./internal/promise/copies.ts"
import type { StorageError } from "./StorageError.ts"
import * as Storage from "./StorageError.ts"

/** The migrations of one package. */
export interface Migrations {
  /** Prefix of the package's tables. Applied migrations are recorded in `<namespace>_migrations`. */
  readonly namespace: string
  /**
   * Migrations by name, such as `0001_create_lots`. The number orders them. Never edit
   * a released migration: expand first, and contract in a later one. The name of a migration that
   * removes what an earlier build uses is `0002_contract_…`: builds that do not have it do not start.
   */
  readonly migrations: Readonly<Record<string, Effect.Effect<unknown, unknown, SqlClient.SqlClient>>>
  /**
   * Indexes of tables that can have many rows: the part of `CREATE INDEX` after the name, by name. They are built after
   * the migrations, outside of a transaction, so that writes continue meanwhile. A changed index needs another name, and
   * is replaced with `replacedIndexes`. To remove one, remove it here and drop it in a migration of a later release.
   */
  readonly indexes?: Readonly<Record<string, string>> | undefined
  /**
   * Names of indexes of earlier builds that `indexes` replace. They are dropped when all of `indexes` are built, without
   * blocking writes, so that statements always find an index. Processes of earlier builds run without them from then on.
   */
  readonly replacedIndexes?: ReadonlyArray<string> | undefined
  /** The objects that the migrations create. */
  readonly objects?: DatabaseSchema.Objects | undefined
  /** The schema of the tables and of `<namespace>_migrations`. Default: that of the connection. Set it with `inSchema`. */
  readonly schema?: string | undefined
}

/** Migrations that can run in a schema, since it is stated what they create. */
export interface Relocatable extends Migrations {
  readonly objects: DatabaseSchema.Objects
}

/**
 * Returns the migrations with the tables in a schema, which they create if it is missing. Schemas of one database are
 * independent of each other. Throws a `TypeError` if the name is invalid (`DatabaseSchema.quoted`).
 */
export const inSchema = (self: Relocatable, schema: string): Relocatable => {
  DatabaseSchema.quoted(schema)
  return { ...self, schema }
}

/** Returns the migration that runs these statements in order. */
export const statements = (
  list: (sql: SqlClient.SqlClient) => ReadonlyArray<Statement.Statement<unknown>>
): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  SqlClient.SqlClient.use((sql) => Effect.forEach(list(sql), (statement) => statement, { discard: true }))

const brand = brandOf("SchemaMismatch")

/** The schema in the database differs from the schema of this build. */
export class SchemaMismatch extends Data.TaggedError("SchemaMismatch")<{
  readonly namespace: string
  /** Number of the newest migration in this build. */
  readonly known: number
  /** Number of the newest migration in the database. */
  readonly found: number
}> {
  /** Returns whether a value is such an error, also if it is of a promise API, which has a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isInstance(this, { copied: SchemaMismatch, brand }, value)
  }

  get [brand](): boolean {
    return true
  }

  override get message(): string {
    return this.found > this.known
      ? `The schema "${this.namespace}" is at migration ${this.found}, which removed something that this build (${this.known}) uses. Run a newer build`
      : `The schema "${this.namespace}" is at migration ${this.found}, older than this build (${this.known}). Run the migrations`
  }
}

/** Options for `run`. */
export interface MigrationsOptions {
  /**
   * Time after which a migration's wait for a lock of a table ends, since every query of the
   * table waits behind it. Default 300 milliseconds.
   */
  readonly lockMax?: Duration.Input | undefined
  /**
   * Time for which the migrations of a package are tried again when a lock is taken, for
   * example by a report or a backup. They hold no lock in between. Default 10 minutes.
   */
  readonly lockedMax?: Duration.Input | undefined
  /**
   * Time for which the build of an index waits for a lock, or for transactions that began before it, such as a backup.
   * Afterwards the start continues without the index, which the next run builds. Default 30 seconds.
   */
  readonly indexLockedMax?: Duration.Input | undefined
}

/**
 * Runs the pending migrations of each package, in order, then builds the indexes that are missing or that a killed
 * process left invalid. Any number of hosts can run it at the same time; the indexes of a package are left to the host that builds them.
 * Does nothing for a package that a newer build has migrated. Fails with `SchemaMismatch` if that build has contracted,
 * and with `StorageError` if a table stays locked for longer than `lockedMax`.
 */
export const run = (
  packages: ReadonlyArray<Migrations>,
  options: MigrationsOptions = {}
): Effect.Effect<void, SchemaMismatch | StorageError, SqlClient.SqlClient> =>
  Effect.filter(packages, (self) => runOne(self, options)).pipe(
    Effect.flatMap(Effect.forEach((self) => buildIndexes(self, options), { discard: true })),
    Effect.withSpan("Migrations.run")
  )

/**
 * Fails with `SchemaMismatch` unless this build can use the database: it has all migrations of the build, and a newer build
 * has not contracted. Runs no DDL.
 */
export const check = (
  packages: ReadonlyArray<Migrations>
): Effect.Effect<void, SchemaMismatch | StorageError, SqlClient.SqlClient> =>
  Effect.forEach(
    packages,
    (self) =>
      Effect.flatMap(stateOf(self), (state) =>
        state.found < state.known ? Effect.fail(mismatch(self, state)) : Effect.void),
    { discard: true }
  ).pipe(
    Effect.withSpan("Migrations.check")
  )

/** The migrations of a package in a database. */
export interface State {
  /** Number of the newest migration in this build. */
  readonly known: number
  /** Number of the newest migration in the database, or 0. */
  readonly found: number
}

/** Returns the state of a package. Fails with `SchemaMismatch` if a newer build has contracted. Runs no DDL. */
export const stateOf = Effect.fnUntraced(function*(
  self: Migrations
): Effect.fn.Return<State, SchemaMismatch | StorageError, SqlClient.SqlClient> {
  const known = newestKnown(self)
  const { found, isContracted } = yield* findNewest(self, known)
  if (isContracted) return yield* mismatch(self, { known, found })
  return { known, found }
})

/** Runs the pending migrations while the layer is built. */
export const layer = (
  ...packages: ReadonlyArray<Migrations>
): Layer.Layer<never, SchemaMismatch | StorageError, SqlClient.SqlClient> => Layer.effectDiscard(run(packages))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Runs the pending migrations. Returns whether the database is at those of this build. */
const runOne = (
  self: Migrations,
  { lockMax = "300 millis", lockedMax = "10 minutes" }: MigrationsOptions
): Effect.Effect<boolean, SchemaMismatch | StorageError, SqlClient.SqlClient> => {
  const retries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced(pauseMax)]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: lockedMax })
  )
  return runIfPending(self, Duration.fromInputUnsafe(lockMax)).pipe(
    Effect.tapErrorTag("StorageError", (error) =>
      isLocked(error)
        ? Effect.logWarning("A migration waits for a table that is locked", { namespace: self.namespace })
        : Effect.void),
    Effect.retry({
      schedule: retries,
      while: (error) => error._tag === "StorageError" && (isLocked(error) || error.reason === "conflict")
    })
  )
}

const runIfPending = Effect.fnUntraced(function*(self: Migrations, lockMax: Duration.Duration) {
  const { found, known } = yield* stateOf(self)
  if (found < known) yield* runPending(self, lockMax)
  return found <= known
})

const mismatch = ({ namespace, schema }: Migrations, state: State) =>
  new SchemaMismatch({ namespace: schema === undefined ? namespace : `${schema}.${namespace}`, ...state })

const buildIndexes = (
  { indexes = {}, namespace, objects, replacedIndexes = [], schema }: Migrations,
  { indexLockedMax = "30 seconds" }: MigrationsOptions
): Effect.Effect<void, StorageError, SqlClient.SqlClient> =>
  ConcurrentIndexes.build({
    namespace,
    indexes,
    replaced: replacedIndexes,
    lockedMax: Duration.fromInputUnsafe(indexLockedMax),
    schema: schema === undefined || objects === undefined ? undefined : { name: schema, objects }
  }).pipe(Storage.mapSql("Migrations.run"))

/** Creates the schema, then runs the pending migrations in one transaction. */
const runPending = (self: Migrations, lockMax: Duration.Duration) =>
  Effect.andThen(self.schema === undefined ? Effect.void : DatabaseSchema.create(self.schema), migrate(self, lockMax))
    .pipe(
      Effect.catchCause((cause) => {
        const failure = failureIn(cause)
        return failure?.isRetryable === true ? Effect.fail(failure) : Effect.die(Cause.squash(cause))
      })
    )

const migrate = (self: Migrations, lockMax: Duration.Duration) => {
  const migrated = Migrator.make({})({
    // The migrator loads inside of its transaction, after it has waited for the migrations of other hosts.
    loader: Effect.andThen(
      setLockTimeout(lockMax),
      Migrator.fromRecord(self.migrations as Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>)
    ),
    table: tableOf(self)
  })
  const { objects, schema } = self
  return schema === undefined || objects === undefined
    ? migrated
    : Effect.provide(migrated, DatabaseSchema.layer(schema, objects))
}

const setLockTimeout = (lockMax: Duration.Duration) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.orDie(sql`SELECT set_config('lock_timeout', ${`${Math.ceil(Duration.toMillis(lockMax))}ms`}, true)`)
  )

const isLocked = (error: StorageError): boolean => LockTimeout.isIn(Cause.fail(error))

/** Maximum time between two attempts. */
const pauseMax = Duration.seconds(5)

/** Finds the failure of the database, which the migrator wraps in its own error. */
const failureIn = (cause: Cause.Cause<unknown>): StorageError | undefined => {
  const error = Cause.squash(cause)
  const inner = error instanceof Migrator.MigrationError ? Cause.fail(error.cause) : cause
  return Storage.findInCause("Migrations.run", inner)
}

/** The name of the table as an identifier, whose parts are separated by dots. */
const tableOf = ({ namespace, schema }: Migrations) =>
  schema === undefined ? `${namespace}_migrations` : `${schema}.${namespace}_migrations`

const newestKnown = (self: Migrations) =>
  Math.max(0, ...Object.keys(self.migrations).map((name) => Number.parseInt(name, 10)))

/** The newest migration of a database, and whether it has one that contracts and is newer than `known`. */
const findNewest = Effect.fnUntraced(function*(self: Migrations, known: number) {
  const sql = yield* SqlClient.SqlClient
  const table = sql(tableOf(self))
  const [name] = sql`${table}`.compile()
  const [exists] = yield* sql<{ readonly found: boolean }>`SELECT to_regclass(${name}) IS NOT NULL AS found`
  if (exists?.found !== true) return { found: 0, isContracted: false }
  const [newest] = yield* sql<{ readonly found: number; readonly isContracted: boolean }>`
    SELECT
      coalesce(max(migration_id), 0) AS found,
      coalesce(bool_or(migration_id > ${known} AND starts_with(name, 'contract_')), false) AS "isContracted"
    FROM ${table}
  `
  return newest! // An aggregate without GROUP BY returns exactly one row.
}, Storage.mapSql("Migrations.check"))
