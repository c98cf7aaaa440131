/** Counts what a client sends to Postgres, on the connections of its pool. */
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer, Redacted } from "effect"
import { connect, type Socket } from "node:net"
import { Duplex } from "node:stream"
import * as TestDatabase from "./TestDatabase.ts"

/** Costs of an operation. `BEGIN` and `COMMIT` are statements. */
export interface Cost {
  readonly statements: number
  /** Number of times that the client waited for a response. */
  readonly roundTrips: number
}

/** Creates an empty database whose client counts. `costOf` runs one operation at a time. */
export const make = Effect.gen(function*() {
  const url = yield* TestDatabase.postgresUrl
  const { hostname, port } = new URL(url)
  const total = { statements: 0, roundTrips: 0 }
  const database: TestDatabase.TestDatabase = PgClient.layer({
    url: Redacted.make(url),
    maxConnections: 4,
    stream: () => counted(connect({ host: hostname, port: Number(port), noDelay: true }), total)
  }).pipe(Layer.provide(Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())))

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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A stream over a socket that counts the messages that execute a statement, and the writes that follow a response. */
const counted = (socket: Socket, total: { statements: number; roundTrips: number }): Duplex => {
  let isWaiting = false
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (part: Buffer, _, done) => {
      total.statements += executionsIn(part)
      if (!isWaiting) total.roundTrips++
      isWaiting = true
      socket.write(part, done)
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    }
  })
  socket.on("data", (part) => {
    isWaiting = false
    if (!stream.push(part)) socket.pause()
  })
  socket.once("end", () => stream.push(null))
  socket.once("error", (error) => stream.destroy(error))
  socket.once("close", () => stream.destroy())
  return stream
}

const execute = "E".charCodeAt(0)

/** Counts the Execute messages of a write, which the driver fills with whole messages: a type and a length each. */
const executionsIn = (part: Buffer): number => {
  let count = 0
  // The first message of a connection has no type.
  for (let at = 0; at + 5 <= part.length && part[at] !== 0; at += 1 + part.readUInt32BE(at + 1)) {
    if (part[at] === execute) count++
  }
  return count
}
