/** Cells in a Postgres whose transactions pipeline. */
import { TestDatabase } from "@kinora/testkit"
import { Data, Effect, Layer, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import * as Pipelining from "../src/Pipelining.ts"
import { mapSql, StorageError } from "../src/StorageError.ts"
import { layerSql } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"

/** A Postgres whose transactions pipeline. */
export const database = TestDatabase.postgresWith(Pipelining.over)

/** Units of work and cells in a database. */
export const over = (database: TestDatabase.TestDatabase) =>
  Layer.mergeAll(layerSql, Cells.layerSql).pipe(Layer.provideMerge(database))

/** Statements on the cells of `Cells.layerSql`. */
export const makeCells = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const insert = (key: string, value: unknown) => sql`INSERT INTO cells (key, value) VALUES (${key}, ${value})`
  const write = (key: string, value: unknown) => Pipelining.write(sql, insert(key, value)).pipe(mapSql("Cells.write"))
  return {
    sql,
    insert,
    /** Inserts a cell by a statement that may go with `BEGIN`. */
    insertBegun: (key: string, value: unknown) =>
      Effect.flatMap(
        Pipelining.begun(sql),
        (begun) => sql`INSERT INTO cells (key, value) SELECT ${key}, ${value}::int4 WHERE ${begun} RETURNING key`
      ),
    write,
    writeAtCommit: (key: string, value: unknown) => Pipelining.atCommit(write(key, value)),
    lock: (key: string) => sql`SELECT value FROM cells WHERE key = ${key} FOR UPDATE`,
    keys: Effect.map(
      sql<{ readonly key: string }>`SELECT key FROM cells ORDER BY key`,
      (rows) => rows.map(({ key }) => key)
    )
  }
})

/** A Postgres that rolls each pipelined transaction back before its first statement, as if an operator had cancelled its `BEGIN`. */
export const cancelling = TestDatabase.postgresWith((client, pool) =>
  Pipelining.over(client, {
    get: Effect.map(pool.get, (session) => ({
      ...session,
      query: (sql, ...rest) => session.query(sql.startsWith("BEGIN") ? "SELECT 1 / 0" : sql, ...rest),
      queryValues: (sql, ...rest) => session.queryValues(sql, ...rest),
      stream: (sql, params) => session.stream(sql, params)
    }))
  })
)

export class Refused extends Data.TaggedError("Refused")<{}> {}

/** The SQLSTATE of the statement that failed. */
export const stateOf = (error: unknown) =>
  error instanceof StorageError && SqlError.isSqlError(error.cause) && error.cause.reason.cause instanceof Error &&
  "code" in error.cause.reason.cause && error.cause.reason.cause.code

export const tagOf = (error: unknown) => error instanceof StorageError ? `StorageError ${error.reason}` : String(error)

/** A database whose connections of transactions stop reading on demand, as those of a suspended process. */
export const makeFreezing = Effect.gen(function*() {
  const url = yield* TestDatabase.postgresUrl
  const { hostname, port } = new URL(url)
  const sockets: Array<Socket> = []
  const stream = () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    sockets.push(socket)
    return socket
  }
  const each = (change: (socket: Socket) => unknown) =>
    Effect.sync(() => {
      for (const socket of sockets) change(socket)
    })
  return {
    database: TestDatabase.connected({ url: Redacted.make(url), maxConnections: 2, stream }, Pipelining.over),
    others: TestDatabase.connected({ url: Redacted.make(url), maxConnections: 1 }),
    freeze: each((socket) => socket.pause()),
    thaw: each((socket) => socket.resume()),
    /** Closes the connections, and returns when the client has noticed it. */
    cut: Effect.promise(() =>
      Promise.all(sockets.filter(({ closed }) => !closed).map((socket) => once(socket.destroy(), "close")))
    ),
    /** Bytes that were sent so far. */
    bytesSent: Effect.sync(() => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0))
  }
})
