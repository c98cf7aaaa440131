/** Builds indexes of tables that have rows, without blocking writes to them. */
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"

/**
 * Builds an index unless it exists. If a build left it invalid because it did not end, drops it first. `definition` is
 * the part of `CREATE INDEX` after the name. If another process builds the index, does nothing. Waits for at most
 * `lockedMax` for a lock, or for transactions that began before; no query waits behind it.
 */
export const build = Effect.fnUntraced(function*(name: string, definition: string, lockedMax: Duration.Duration) {
  const sql = yield* SqlClient.SqlClient
  // One connection for all, since it holds the lock.
  const connection = yield* sql.reserve
  if ((yield* stateOf(connection, name)) === "valid") return
  const [lock] = yield* rows<{ readonly taken: boolean }>(
    connection,
    `SELECT pg_try_advisory_lock(${keyOf}) AS taken`,
    [name]
  )
  if (lock?.taken !== true) return
  yield* Effect.addFinalizer(() => Effect.ignore(rows(connection, `SELECT pg_advisory_unlock(${keyOf})`, [name])))
  const state = yield* stateOf(connection, name)
  if (state === "valid") return
  yield* rows(connection, "SELECT set_config('lock_timeout', $1, false)", [`${Duration.toMillis(lockedMax)}ms`])
  yield* Effect.addFinalizer(() => Effect.ignore(rows(connection, "RESET lock_timeout", [])))
  if (state === "invalid") yield* rows(connection, `DROP INDEX CONCURRENTLY ${name}`, [])
  yield* rows(connection, `CREATE INDEX CONCURRENTLY ${name} ${definition}`, [])
}, Effect.scoped)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyOf = "hashtextextended('kinora index ' || $1, 0)"

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
