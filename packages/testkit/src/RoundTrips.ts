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

/** Opens a connection that counts the messages that execute a statement, and the writes that follow a response. */
const counted = (host: string, port: number, total: { statements: number; roundTrips: number }) => {
  let isWaiting = false
  return PostgresSocket.connect(host, port, {
    sent: (frame) => {
      for (const type of PostgresSocket.typesIn(frame)) if (type === execute) total.statements++
      if (!isWaiting) total.roundTrips++
      isWaiting = true
    },
    received: () => {
      isWaiting = false
    }
  })
}

const execute = "E".charCodeAt(0)
