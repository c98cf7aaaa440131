import { PgClient } from "@effect/sql-pg"
import { assert, it, vi } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import { Deferred, Effect, Exit, Fiber, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { openAsBlob } from "node:fs"
import type { Duplex } from "node:stream"
import { inject } from "vitest"
import { PgliteSession } from "../src/internal/PgliteSession.ts"

/** A database, and clients whose connections the test can cut. */
const makeDatabase = Effect.gen(function*() {
  const database = yield* Effect.acquireRelease(
    Effect.promise(async () => PGlite.create({ loadDataDir: await openAsBlob(inject("pgliteDump")) })),
    (database) => Effect.promise(() => database.close())
  )
  const session = new PgliteSession(database)
  const connect = Effect.gen(function*() {
    const connections: Array<Duplex> = []
    const sql = yield* PgClient.make({
      stream: () => {
        const connection = session.connect()
        connections.push(connection)
        return connection
      },
      username: "postgres",
      database: "postgres",
      password: Redacted.make(""),
      maxConnections: 1,
      multiplex: false
    })
    const cut = Effect.sync(() => {
      for (const connection of connections) connection.destroy()
    })
    return { sql, cut }
  })
  return { connect, database }
})

it.live("rolls back the transaction of a connection that was cut, and continues the others", () =>
  Effect.gen(function*() {
    const { connect } = yield* makeDatabase
    const doomed = yield* connect
    const other = yield* connect
    yield* other.sql`CREATE TABLE cut (id int)`
    const inserted = yield* Deferred.make<void>()
    const writer = yield* Effect.forkChild(doomed.sql.withTransaction(
      doomed.sql`INSERT INTO cut VALUES (1)`.pipe(
        Effect.andThen(Deferred.succeed(inserted, undefined)),
        Effect.andThen(Effect.never)
      )
    ))
    yield* Deferred.await(inserted)
    // It waits, since the transaction owns the session.
    const waiting = yield* Effect.forkChild(other.sql`SELECT id FROM cut`, { startImmediately: true })
    yield* doomed.cut
    assert.deepStrictEqual(yield* Fiber.join(waiting), [])
    yield* Fiber.interrupt(writer)
    assert.deepStrictEqual(yield* other.sql`SELECT id FROM cut`, [])
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)))

it.live("rolls back a transaction that was beginning when its connection was cut", () =>
  Effect.gen(function*() {
    const { connect, database } = yield* makeDatabase
    const doomed = yield* connect
    const other = yield* connect
    yield* doomed.sql`SELECT 1`
    const execute = database.execProtocolRaw.bind(database)
    const spy = vi.spyOn(database, "execProtocolRaw").mockImplementationOnce((frame, options) => {
      const answer = execute(frame, options)
      assert.include(Buffer.from(frame).toString("latin1"), "BEGIN")
      Effect.runSync(doomed.cut)
      return answer
    })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(doomed.sql.withTransaction(doomed.sql`SELECT 1`))))
    spy.mockRestore()
    yield* other.sql`CREATE TABLE begun (id int)`
    assert.deepStrictEqual(yield* other.sql`SELECT id FROM begun`, [])
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)))

it.live("does not run what a cut connection had still queued", () =>
  Effect.gen(function*() {
    const { connect } = yield* makeDatabase
    const doomed = yield* connect
    const other = yield* connect
    yield* other.sql`CREATE TABLE queued (id int)`
    yield* doomed.sql`SELECT 1`
    const inserted = yield* Deferred.make<void>()
    const mayCommit = yield* Deferred.make<void>()
    const owner = yield* Effect.forkChild(other.sql.withTransaction(
      other.sql`INSERT INTO queued VALUES (1)`.pipe(
        Effect.andThen(Deferred.succeed(inserted, undefined)),
        Effect.andThen(Deferred.await(mayCommit))
      )
    ))
    yield* Deferred.await(inserted)
    const late = yield* Effect.forkChild(Effect.exit(doomed.sql`INSERT INTO queued VALUES (2)`), {
      startImmediately: true
    })
    yield* doomed.cut
    assert.isTrue(Exit.isFailure(yield* Fiber.join(late)))
    yield* Deferred.succeed(mayCommit, undefined)
    yield* Fiber.join(owner)
    assert.deepStrictEqual(yield* other.sql`SELECT id FROM queued`, [{ id: 1 }])
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
