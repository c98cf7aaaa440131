/** Connections that wait for their next request. */
import type { Target } from "../../AddressGuard.ts"
import * as Connection from "./Connection.ts"

/** How many may wait, and what is said of each. */
export interface PoolOptions extends Connection.ConnectionOptions {
  /** Those that wait, of all receivers. */
  readonly idleMax: number
}

/** See the module. */
export interface ConnectionPool {
  /** One that waits, the last used first; `undefined`: none. */
  readonly take: (target: Target) => Connection.Connection | undefined
  readonly open: (target: Target) => Connection.Connection
  /** Keeps a connection for its next request; the one that waits longest makes room. */
  readonly give: (connection: Connection.Connection) => void
  /** Closes all, those in use too. */
  readonly close: () => void
}

/** An empty pool. */
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
    open: (target) => {
      const connection = Connection.make(target, options, forget)
      all.add(connection)
      return connection
    },
    give: (connection) => {
      // It may have closed behind the answer, and nothing would take it out again.
      if (!all.has(connection)) return
      idle.push(connection)
      if (idle.length > options.idleMax) idle[0]?.destroy()
    },
    close: () => {
      for (const connection of all) connection.destroy()
    }
  }
}
