/** The write-ahead log of a Postgres server, of all of its databases. */
import type { Effect } from "effect"
import type { Client } from "pg"

/** A log. The failure is that of the connection. */
export interface WriteAheadLog<E> {
  /** Its end. */
  readonly end: Effect.Effect<string, E>
  /**
   * Bytes since an earlier end. The first change of a page after a checkpoint also logs a copy of the page, which has more
   * bytes than many changes. They are not counted, unless the server lacks the extension `pg_walinspect`.
   */
  readonly bytesSince: (end: string) => Effect.Effect<number, E>
}

/** Statement after which a server separates the sizes of changes from those of copies. */
export const extension = "CREATE EXTENSION pg_walinspect"

/** Reads the log on connections of the caller. */
export const make = <E>(
  withClient: <A>(use: (client: Client) => Promise<A>) => Effect.Effect<A, E>
): WriteAheadLog<E> => ({
  end: withClient(endOf),
  bytesSince: (start) => withClient((client) => bytesBetween(client, start))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const endOf = async (client: Client): Promise<string> => {
  const { rows: [row] } = await client.query<{ end: string }>("SELECT pg_current_wal_insert_lsn() AS end")
  return row?.end ?? ""
}

const bytesBetween = async (client: Client, start: string): Promise<number> => {
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'pg_walinspect'")
  if (rowCount === 0) {
    return numberOf(client, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1) AS number", start)
  }
  // Only what is on disk can be read, and at least one record.
  await client.query("SELECT pg_logical_emit_message(false, 'bench', '', true)")
  const sum = "SELECT sum(record_size) AS number FROM pg_get_wal_stats($1, pg_current_wal_flush_lsn())"
  return numberOf(client, sum, start)
}

const numberOf = async (client: Client, statement: string, parameter: string): Promise<number> => {
  const { rows: [row] } = await client.query<{ number: string }>(statement, [parameter])
  return Number(row?.number)
}
