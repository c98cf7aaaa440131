/** Counts what a client sends to Postgres, on the connections of its pool. */
import { Effect, Redacted } from "effect"
import * as PostgresSocket from "./internal/postgresSocket.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** Costs of an operation. `BEGIN` and `COMMIT` are statements. */
export interface Cost {
  readonly statements: number
  /** Number of times that the client waited for a response. */
  readonly roundTrips: number
}

/**
 * Creates an empty database whose client counts. `pipeline` is `Pipelining.over` of `@kinora/persistence`, if transactions
 * pipeline. `costOf` runs one operation at a time.
 */
export const makeWith = Effect.fnUntraced(function*(pipeline?: TestDatabase.Pipeline) {
  const url = yield* TestDatabase.postgresUrl
  const { hostname, port } = new URL(url)
  const total = { statements: 0, roundTrips: 0 }
  const database = TestDatabase.connected({
    url: Redacted.make(url),
    maxConnections: 4,
    stream: () => counted(hostname, Number(port), total)
  }, pipeline)

  const costOf = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<Cost, E, R> =>
    Effect.suspend(() => {
      const before = { ...total }
      return Effect.map(operation, (): Cost => ({
        statements: total.statements - before.statements,
        roundTrips: total.roundTrips - before.roundTrips
      }))
    })

  return { database, costOf }
})

/** Creates an empty database whose client counts, and whose transactions wait for each statement. */
export const make = makeWith()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Opens a connection that counts the messages that execute a statement, and the writes that follow a response. Responses
 * arrive together, when the server has responded to all that was sent and the client is idle. Otherwise a client that
 * waits for several responses would send after each of them, as often as the machine is slow.
 */
const counted = (host: string, port: number, total: { statements: number; roundTrips: number }) => {
  let isWaiting = false
  let hasStarted = false
  let open = 0
  const held: Array<Uint8Array> = []
  const socket = PostgresSocket.connect(host, port, {
    sent: (frame) => {
      for (const type of PostgresSocket.typesIn(frame)) if (type === execute) total.statements++
      open += PostgresSocket.cyclesIn(frame)
      if (!isWaiting) total.roundTrips++
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

const execute = "E".charCodeAt(0)
