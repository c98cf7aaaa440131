/** Builds indexes of tables that have rows, without blocking writes to them. */
import { Duration, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"

/** Options for `build`. */
export interface BuildOptions {
  /** Names the builds of which only one process at a time runs. All indexes of a table belong to the same. */
  readonly namespace: string
  /** The part of `CREATE INDEX` after the name, by name. */
  readonly indexes: Readonly<Record<string, string>>
  /** Time for which the build of an index waits for a lock, or for transactions that began before. */
  readonly lockedMax: Duration.Duration
}

/**
 * Builds the indexes that do not exist. If a build left one invalid because it did not end, drops it first. If another
 * process builds indexes of the namespace, leaves all of them to it. No query waits behind a build. Logs a warning for
 * an index that a transaction blocks, and continues without it.
 *
 * Two processes would deadlock on two indexes of one table: the second build waits for the lock of the first, and the
 * first waits until the second, whose statement began before it ends, is done.
 */
export const build = Effect.fnUntraced(function*({ indexes, lockedMax, namespace }: BuildOptions) {
  const sql = yield* SqlClient.SqlClient
  // One connection for all, since it holds the lock.
  const connection = yield* sql.reserve
  if (yield* areValid(connection, Object.keys(indexes))) return
  const [lock] = yield* rows<{ readonly taken: boolean }>(
    connection,
    `SELECT pg_try_advisory_lock(${keyOf}) AS taken`,
    [namespace]
  )
  if (lock?.taken !== true) return
  yield* Effect.addFinalizer(() => Effect.ignore(rows(connection, `SELECT pg_advisory_unlock(${keyOf})`, [namespace])))
  yield* rows(connection, "SELECT set_config('lock_timeout', $1, false)", [`${Duration.toMillis(lockedMax)}ms`])
  yield* Effect.addFinalizer(() => Effect.ignore(rows(connection, "RESET lock_timeout", [])))
  for (const [name, definition] of Object.entries(indexes)) {
    yield* Effect.catchIf(
      buildOne(connection, name, definition),
      isBlocked,
      () => Effect.logWarning("An index is not built before the next start, since a transaction blocks it", { name })
    )
  }
}, Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyOf = "hashtextextended('kinora indexes ' || $1, 0)"

const buildOne = Effect.fnUntraced(function*(connection: Connection, name: string, definition: string) {
  const state = yield* stateOf(connection, name)
  if (state === "valid") return
  if (state === "invalid") yield* rows(connection, `DROP INDEX CONCURRENTLY ${name}`, [])
  yield* rows(connection, `CREATE INDEX CONCURRENTLY ${name} ${definition}`, [])
})

/** Returns whether a build waited for too long, or was the victim of a deadlock with a statement of somebody else. */
const isBlocked = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "LockTimeoutError" || reason._tag === "DeadlockError"

const areValid = (connection: Connection, names: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(names, (name) => stateOf(connection, name)),
    (states) => states.every((state) => state === "valid")
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
