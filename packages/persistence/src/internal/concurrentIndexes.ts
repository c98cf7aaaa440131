/** Builds indexes of tables that have rows, without blocking writes to them. */
import { Duration, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import * as DatabaseSchema from "../DatabaseSchema.ts"

/** Options for `build`. */
export interface BuildOptions {
  /** Names the builds of which only one process at a time runs. All indexes of a table belong to the same. */
  readonly namespace: string
  /** The part of `CREATE INDEX` after the name, by name. */
  readonly indexes: Readonly<Record<string, string>>
  /** Names of indexes to drop once all of `indexes` are built. */
  readonly replaced: ReadonlyArray<string>
  /** Time for which the build of an index waits for a lock, or for transactions that began before. */
  readonly lockedMax: Duration.Duration
  /** The schema of the tables. Default: that of the connection. */
  readonly schema?: { readonly name: string; readonly objects: DatabaseSchema.Objects } | undefined
}

/**
 * Builds the indexes that do not exist. If a build left one invalid because it did not end, drops it first. If another
 * process builds indexes of the namespace, leaves all of them to it. No query waits behind a build. Logs a warning for
 * an index that a transaction blocks, and continues without it. Drops the replaced indexes in the same way.
 *
 * Two processes would deadlock on two indexes of one table: the second build waits for the lock of the first, and the
 * first waits until the second, whose statement began before it ends, is done.
 */
export const build = Effect.fnUntraced(function*({ indexes, lockedMax, namespace, replaced, schema }: BuildOptions) {
  const sql = yield* SqlClient.SqlClient
  const builds = Object.entries(indexes).map(buildIn(schema))
  const drops = replaced.map((name) => schema === undefined ? name : `${DatabaseSchema.quoted(schema.name)}.${name}`)
  const lockName = schema === undefined ? namespace : `${schema.name}.${namespace}`
  // One connection for all, since it holds the lock.
  const connection = yield* sql.reserve
  if ((yield* areValid(connection, builds)) && (yield* areMissing(connection, drops))) return
  const [lock] = yield* rows<{ readonly taken: boolean }>(
    connection,
    `SELECT pg_try_advisory_lock(${keyOf}) AS taken`,
    [lockName]
  )
  if (lock?.taken !== true) return
  yield* Effect.addFinalizer(() => Effect.ignore(rows(connection, `SELECT pg_advisory_unlock(${keyOf})`, [lockName])))
  yield* rows(connection, "SELECT set_config('lock_timeout', $1, false)", [`${Duration.toMillis(lockedMax)}ms`])
  yield* Effect.addFinalizer(() => Effect.ignore(rows(connection, "RESET lock_timeout", [])))
  for (const build of builds) {
    yield* unlessBlocked(
      buildOne(connection, build),
      Effect.logWarning("An index is not built before the next start, since a transaction blocks it", {
        name: build.name
      })
    )
  }
  // Statements use the old indexes until all new ones exist.
  if (!(yield* areValid(connection, builds))) return
  for (const name of drops) {
    yield* unlessBlocked(
      rows(connection, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`, []),
      Effect.logWarning("An index is not dropped before the next start, since a transaction blocks it", { name })
    )
  }
}, Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyOf = "hashtextextended('kinora indexes ' || $1, 0)"

/** An index, with its name as `CREATE INDEX` and as other statements write it, since the former takes the schema of the table. */
interface Build {
  readonly name: string
  readonly qualified: string
  readonly definition: string
}

const buildIn =
  (schema: BuildOptions["schema"]) => ([name, definition]: readonly [name: string, definition: string]): Build =>
    schema === undefined
      ? { name, qualified: name, definition }
      : {
        name,
        qualified: `${DatabaseSchema.quoted(schema.name)}.${name}`,
        definition: DatabaseSchema.qualifier(schema.name, schema.objects)(definition)
      }

const buildOne = Effect.fnUntraced(function*(connection: Connection, { definition, name, qualified }: Build) {
  const state = yield* stateOf(connection, qualified)
  if (state === "valid") return
  if (state === "invalid") yield* rows(connection, `DROP INDEX CONCURRENTLY ${qualified}`, [])
  yield* rows(connection, `CREATE INDEX CONCURRENTLY ${name} ${definition}`, [])
})

const unlessBlocked = (
  statement: Effect.Effect<unknown, SqlError.SqlError>,
  otherwise: Effect.Effect<void>
): Effect.Effect<void, SqlError.SqlError> => Effect.catchIf(Effect.asVoid(statement), isBlocked, () => otherwise)

/** Returns whether a build waited for too long, or was the victim of a deadlock with a statement of somebody else. */
const isBlocked = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "LockTimeoutError" || reason._tag === "DeadlockError"

const areValid = (connection: Connection, builds: ReadonlyArray<Build>) =>
  Effect.map(
    Effect.forEach(builds, ({ qualified }) => stateOf(connection, qualified)),
    (states) => states.every((state) => state === "valid")
  )

const areMissing = (connection: Connection, names: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(names, (name) => stateOf(connection, name)),
    (states) => states.every((state) => state === "missing")
  )

const stateOf = (connection: Connection, name: string) =>
  Effect.map(
    rows<{ readonly valid: boolean }>(
      connection,
      "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)",
      [name]
    ),
    ([index]) => index === undefined ? "missing" : index.valid ? "valid" : "invalid"
  )

const rows = <Row>(connection: Connection, text: string, params: ReadonlyArray<unknown>) =>
  Effect.map(connection.executeUnprepared(text, params, undefined), (found): ReadonlyArray<Row> => found)
