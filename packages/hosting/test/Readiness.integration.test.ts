import { assert, it } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { Migrations } from "@kinora/persistence"
import { BlobError, BlobStore } from "@kinora/storage"
import { TcpProxy, TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Database from "../src/Database.ts"
import * as Http from "../src/Http.ts"

const layerDatabase = Migrations.layer(Database.migrations).pipe(Layer.provideMerge(TestDatabase.pglite))

const isReady = Database.isReadyWithin("2 seconds")

const over = (blobs: Layer.Layer<BlobStore.BlobStore>, readiness = Http.layerReadiness) =>
  readiness.pipe(Layer.provideMerge(Layer.merge(blobs, layerDatabase)))

it.effect("is not ready after two seconds when the file storage hangs, and checks once for concurrent probes", () => {
  let puts = 0
  // A call of the file system cannot be interrupted.
  const hanging = Layer.mock(BlobStore.BlobStore)({
    put: () => Effect.uninterruptible(Effect.andThen(Effect.sync(() => ++puts), Effect.never))
  })
  return Effect.gen(function*() {
    const { notReady } = yield* Readiness.Readiness
    const sql = yield* SqlClient.SqlClient
    const probes = Effect.all(Array.from({ length: 8 }, () => notReady), { concurrency: "unbounded" })
    const checking = yield* Effect.forkChild(probes, { startImmediately: true })
    // The embedded database has one session, so it has responded to the check before.
    yield* sql`SELECT 1`
    yield* TestClock.adjust("1999 millis")
    assert.isUndefined(checking.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    for (const names of yield* Fiber.join(checking)) assert.deepStrictEqual(names, ["storage"])
    assert.strictEqual(puts, 1)
  }).pipe(Effect.provide(over(hanging)))
})

it.effect("waits for the file storage and for the database as long as configured", () => {
  const hanging = Layer.mock(BlobStore.BlobStore)({ put: () => Effect.never })
  return Effect.gen(function*() {
    const { notReady } = yield* Readiness.Readiness
    const sql = yield* SqlClient.SqlClient
    const hasBegun = yield* Latch.make()
    // The embedded database has one session, for which the check waits.
    yield* Effect.forkScoped(
      sql.withTransaction(Effect.andThen(sql`SELECT 1`, Effect.andThen(hasBegun.open, Effect.never)))
    )
    yield* hasBegun.await
    const checking = yield* Effect.forkChild(notReady, { startImmediately: true })
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(checking.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* Fiber.join(checking), ["database", "storage"])
  }).pipe(Effect.scoped, Effect.provide(over(hanging, Http.layerReadinessWith({ responseMax: "5 seconds" }))))
})

it.effect("is not ready while the database is read-only or the file storage full", () => {
  let isFull = false
  const full = new BlobError.BlobError({ reason: new BlobError.Unavailable({ operation: "test", cause: "ENOSPC" }) })
  const filling = Layer.effect(
    BlobStore.BlobStore,
    BlobStore.BlobStore.use((blobs) =>
      Effect.succeed(BlobStore.BlobStore.of({
        ...blobs,
        put: (key, stream, options) => isFull ? Effect.fail(full) : blobs.put(key, stream, options)
      }))
    )
  ).pipe(Layer.provide(BlobStore.layerMemory))
  return Effect.gen(function*() {
    const { notReady } = yield* Readiness.Readiness
    const sql = yield* SqlClient.SqlClient
    assert.deepStrictEqual(yield* notReady, [])
    yield* sql`SET default_transaction_read_only = on`
    assert.deepStrictEqual(yield* notReady, ["database"])
    isFull = true
    assert.deepStrictEqual(yield* notReady, ["database", "storage"])
    yield* sql`SET default_transaction_read_only = off`
    isFull = false
    assert.deepStrictEqual(yield* notReady, [])
  }).pipe(Effect.provide(over(filling)))
})

it.effect("is not ready while the database has no room for 1 MiB", () =>
  Effect.gen(function*() {
    const { notReady } = yield* Readiness.Readiness
    const sql = yield* SqlClient.SqlClient
    // The row exists, so its update needs no room.
    assert.deepStrictEqual(yield* notReady, [])
    yield* sql`SET temp_file_limit = '512kB'`
    assert.deepStrictEqual(yield* notReady, ["database"])
    yield* sql`SET temp_file_limit = '2MB'`
    assert.deepStrictEqual(yield* notReady, [])
    yield* sql`RESET temp_file_limit`
  }).pipe(Effect.provide(over(BlobStore.layerMemory))))

/** Connects to a Postgres with 2 connections for statements and 1 for transactions. */
const layerPostgres = (url: string) =>
  Migrations.layer(Database.migrations).pipe(
    Layer.provideMerge(Database.layer({
      url: Redacted.make(url),
      dataDirectory: "unused",
      maxConnections: 3,
      // Longer than a test holds a transaction.
      idleMax: "1 minute"
    }))
  )

const untilReady = Effect.repeat(isReady, {
  until: (ready) => ready,
  schedule: Schedule.spaced("50 millis")
})

/** Runs an effect while a transaction has the connection of transactions. */
const whileTransactionRuns = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const hasBegun = yield* Latch.make()
    const mayEnd = yield* Latch.make()
    const transaction = yield* Effect.forkChild(
      sql.withTransaction(Effect.andThen(sql`SELECT 1`, Effect.andThen(hasBegun.open, mayEnd.await)))
    )
    yield* hasBegun.await
    const result = yield* effect
    yield* mayEnd.open
    yield* Fiber.join(transaction)
    return result
  })

it.live("is not ready while the connections of transactions, or of statements, are in use", () =>
  Effect.gen(function*() {
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* untilReady
      assert.isFalse(yield* whileTransactionRuns(sql, isReady))
      yield* untilReady
      const reserved = Effect.andThen(sql.reserve, sql.reserve)
      assert.isFalse(yield* Effect.scoped(Effect.andThen(reserved, isReady)))
      yield* untilReady
    }).pipe(Effect.provide(layerPostgres(yield* TestDatabase.postgresUrl)))
  }).pipe(Effect.scoped))

it.live("is not ready while the connections of transactions hang", () =>
  Effect.gen(function*() {
    const proxy = yield* TcpProxy.make(yield* TestDatabase.postgresUrl)
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* untilReady
      yield* proxy.hangNextOf("transaction")
      const hanging = yield* Effect.forkChild(Effect.flip(sql.withTransaction(sql`SELECT 1`)), {
        startImmediately: true
      })
      assert.isFalse(yield* isReady)
      // Statements have other connections.
      yield* sql`SELECT 1`
      assert.strictEqual((yield* Fiber.join(hanging)).reason._tag, "ConnectionError")
      yield* untilReady
    }).pipe(Effect.provide(layerPostgres(proxy.url)))
  }).pipe(Effect.scoped))

it.live("is not ready while a connection of statements hangs", () =>
  Effect.gen(function*() {
    const proxy = yield* TcpProxy.make(yield* TestDatabase.postgresUrl)
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // One connection of transactions has begun one.
      yield* untilReady
      yield* proxy.hangNextOf("statement")
      yield* sql.withTransaction(sql`SELECT 1`)
      assert.strictEqual(yield* proxy.hung, 0)
      assert.isFalse(yield* isReady)
      assert.strictEqual(yield* proxy.hung, 1)
      yield* sql.withTransaction(sql`SELECT 1`)
      yield* untilReady
    }).pipe(Effect.provide(layerPostgres(proxy.url)))
  }).pipe(Effect.scoped))

it.effect("is not ready after two seconds when the database hangs, before its connections end", () =>
  Effect.gen(function*() {
    const proxy = yield* TcpProxy.make(yield* TestDatabase.postgresUrl)
    yield* Effect.gen(function*() {
      assert.isTrue(yield* isReady)
      yield* proxy.hang
      const checking = yield* Effect.forkChild(isReady, { startImmediately: true })
      // The time after which a connection ends does not pass.
      yield* TestClock.adjust("2 seconds")
      assert.isFalse(yield* Fiber.join(checking))
      yield* proxy.resume
    }).pipe(Effect.provide(layerPostgres(proxy.url)))
  }).pipe(Effect.scoped))
