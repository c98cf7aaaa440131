/** A pool of idle connections. */
import type { Target } from "@kinora/address-guard/AddressGuard"
import { Effect } from "effect"
import * as Connection from "./Connection.ts"

/** Options for the pool and its connections. */
export interface PoolOptions extends Connection.ConnectionOptions {
  /** Idle connections to all receivers. */
  readonly idleMax: number
}

/** The pool. */
export interface ConnectionPool {
  /** Removes and returns the most recently used idle connection for the target, if there is one. */
  readonly take: (target: Target) => Connection.Connection | undefined
  /** Creates a connection, which opens on its first request. */
  readonly open: (target: Target) => Effect.Effect<Connection.Connection>
  /** Returns a connection to the pool. If the pool is full, the least recently used one is closed. */
  readonly give: (connection: Connection.Connection) => void
  /** Closes all connections, including those in use. */
  readonly close: () => void
}

/** Creates an empty pool. */
export const make = (options: PoolOptions): ConnectionPool => {
  const all = new Set<Connection.Connection>()
  const idle: Array<Connection.Connection> = []

  const forget = (connection: Connection.Connection) => {
    all.delete(connection)
    const index = idle.indexOf(connection)
    if (index >= 0) idle.splice(index, 1)
    connection.destroy()
  }

  return {
    take: (target) => {
      const index = idle.findLastIndex((connection) => connection.fits(target))
      return index < 0 ? undefined : idle.splice(index, 1)[0]
    },
    // Undici is loaded for the first webhook. Loading it takes a tenth of the start of a host.
    open: (target) =>
      Effect.map(Effect.promise(() => import("undici")), (undici) => {
        const connection = Connection.make(undici, target, options, forget)
        all.add(connection)
        return connection
      }),
    give: (connection) => {
      // A connection that closed after the response would never leave the pool.
      if (!all.has(connection)) return
      idle.push(connection)
      if (idle.length > options.idleMax) idle[0]?.destroy()
    },
    close: () => {
      for (const connection of all) connection.destroy()
    }
  }
}
