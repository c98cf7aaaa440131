/** The statement that deletes old audit entries. */
import { Deletion } from "@kinora/persistence"
import { DateTime } from "effect"
import type { SqlClient } from "effect/sql"
import type { DeleteCommand } from "../../OperatorStore.ts"

/** Returns the statement that deletes the entries of a command, and returns one row for each. */
export const deleteStatement = (sql: SqlClient.SqlClient, { action, before, limit }: DeleteCommand) => {
  const isDue = sql`at < ${DateTime.toDate(before)}`
  const options = { table: "operators_audit", key: "id", limit }
  if (action === undefined) return Deletion.statement(sql, { ...options, where: isDue, orderBy: "at" })
  // Ids begin with the time, so that a scan of the index of actions ends after the entries that are due. Written with `=`,
  // Postgres may scan the primary key, and read the old entries of all actions.
  const isOfAction = sql`action >= ${action} AND (action, id) < (${action}, ${lowestUuidAt(before)})`
  return Deletion.statement(sql, { ...options, where: sql`${isOfAction} AND ${isDue}`, orderBy: "action, id" })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the lowest UUIDv7 of a time: its first 48 bits are the milliseconds since 1970. */
const lowestUuidAt = (time: DateTime.Utc): string => {
  const hex = Math.max(Math.ceil(time.epochMilliseconds), 0).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
