/** Counts what a client sends to Postgres, on the connections of its pool. */
import { Effect, Redacted } from "effect"
import * as PostgresSocket from "./internal/postgresSocket.ts"
import * as Transactions from "./internal/transactionWrites.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** Costs of an operation. `BEGIN` and `COMMIT` are statements. */
export interface Cost {
  readonly statements: number
  /** Number of times that the client waited for a response. Does not count the start of a connection, because a pool can open one at any time. */
  readonly roundTrips: number
  /**
   * How often the locks of a transaction waited for the client: its round trips after the one with its first statement that locks
   * or writes rows. 1 if everything that follows the first lock is sent together with `COMMIT`. 0 if the first lock itself is, and if
   * a statement runs without a transaction, since the server ends it. If there are several transactions, that of the one with
   * the most.
   */
  readonly writesAfterLock: number
  /**
   * Network writes of a transaction after the one with its last read, which is a statement that returns rows, unless it is sent
   * together with `COMMIT`. 1 if all that follows the last read is sent in one network write, so that no lock waits for a client
   * that is suspended after it. Without a read, all network writes of the transaction. 0 without a transaction. If there are
   * several, that of the one with the most.
   */
  readonly writesAfterRead: number
}

/**
 * Creates an empty database whose client counts. `pipeline` is `Pipelining.over` of `@kinora/persistence`, if transactions
 * pipeline. `costOf` runs one operation at a time.
 */
export const makeWith = Effect.fnUntraced(function*(pipeline?: TestDatabase.Pipeline) {
  const url = yield* TestDatabase.postgresUrl
  const { hostname, port } = new URL(url)
  const total: Total = { ...none }
  const database = TestDatabase.connected({
    url: Redacted.make(url),
    maxConnections: 4,
    stream: () => counted(hostname, Number(port), total)
  }, pipeline)

  const costOf = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<Cost, E, R> =>
    Effect.suspend(() => {
      Object.assign(total, none)
      return Effect.map(operation, (): Cost => ({ ...total }))
    })

  return { database, costOf }
})

/** Creates an empty database whose client counts, and whose transactions wait for each statement. */
export const make = makeWith()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Total = { -readonly [Key in keyof Cost]: Cost[Key] }

const none: Cost = { statements: 0, roundTrips: 0, writesAfterLock: 0, writesAfterRead: 0 }

/**
 * Opens a connection that counts the messages that execute a statement, and the writes that follow a response. Responses
 * arrive together, when the server has responded to all that was sent and the client is idle. Otherwise a client that
 * waits for several responses would send after each of them, as often as the machine is slow.
 */
const counted = (host: string, port: number, total: Total) => {
  let isWaiting = false
  let hasStarted = false
  let open = 0
  const held: Array<Uint8Array> = []
  const statementsIn = PostgresSocket.readStatements()
  const observe = Transactions.observe(({ writesAfterLock, writesAfterRead }) => {
    total.writesAfterLock = Math.max(total.writesAfterLock, writesAfterLock)
    total.writesAfterRead = Math.max(total.writesAfterRead, writesAfterRead)
  })
  const socket = PostgresSocket.connect(host, port, {
    sent: (frame) => {
      const statements = statementsIn(frame)
      total.statements += statements.length
      observe(statements, !isWaiting)
      open += PostgresSocket.cyclesIn(frame)
      if (hasStarted && !isWaiting) total.roundTrips++
      isWaiting = true
    },
    received: () => {
      isWaiting = false
    }
  })
  const push = socket.push.bind(socket)
  const deliver = () => {
    if (open === 0) { for (const part of held.splice(0)) push(part) }
  }
  const responded = PostgresSocket.countCycles((ended) => {
    hasStarted = true
    open -= ended
    afterTurns(idleTurns, deliver)
  })
  return Object.assign(socket, {
    push: (part: Uint8Array | null): boolean => {
      // The server asks for a password before its first cycle ends.
      if (part === null || !hasStarted) push(part)
      else held.push(part)
      if (part !== null) responded(Buffer.from(part.buffer, part.byteOffset, part.byteLength))
      return true
    }
  })
}

/** Turns of the event loop after which the client has sent what follows from a response. */
const idleTurns = 16

const afterTurns = (turns: number, run: () => void): void => {
  setImmediate(turns === 1 ? run : () => afterTurns(turns - 1, run))
}
