/**
 * The statements that the test databases of this process have not responded to yet, on all connections. Tests of a
 * process run one after the other, so the statements are those of the running test.
 */
import type { PGlite } from "@electric-sql/pglite"
import { Latch } from "effect"
import * as PostgresSocket from "./postgresSocket.ts"

const state = { count: 0, total: 0 }

/** Open while no statement is in flight. */
export const none = Latch.makeUnsafe(true)

/** Returns how many statements are in flight. */
export const count = (): number => state.count

/** Returns how many statements were sent since the process started. */
export const total = (): number => state.total

/** Opens a connection to Postgres whose statements count. The start of the connection counts as one. */
export const connect = (host: string, port: number): PostgresSocket.PostgresSocket => {
  let open = 0
  const settle = (settled: number) => {
    open -= settled
    remove(settled)
  }
  return PostgresSocket.connect(host, port, {
    sent: (frame) => {
      const sent = PostgresSocket.cyclesIn(frame)
      open += sent
      add(sent)
    },
    received: PostgresSocket.countCycles((ended) => settle(Math.min(ended, open))),
    closed: () => settle(open)
  })
}

/** Makes the statements of a PGlite count. */
export const observePglite = (database: PGlite): PGlite => {
  const execute = database.execProtocolRaw.bind(database)
  return Object.assign(database, {
    execProtocolRaw: (...parameters: Parameters<typeof execute>) => during(() => execute(...parameters))
  })
}

/** Makes a call of a storage count as a statement. */
export const during = <A>(call: () => Promise<A>): Promise<A> => {
  add(1)
  return call().finally(() => remove(1))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const add = (statements: number): void => {
  if (statements === 0) return
  state.count += statements
  state.total += statements
  none.closeUnsafe()
}

const remove = (statements: number): void => {
  state.count -= statements
  if (state.count === 0) none.openUnsafe()
}
