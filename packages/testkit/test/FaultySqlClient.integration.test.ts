/** The faults of a database, on a real one. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Faults from "../src/Faults.ts"
import * as FaultySqlClient from "../src/FaultySqlClient.ts"
import * as TestDatabase from "../src/TestDatabase.ts"

/** A faulty client on an empty table, and a client without faults that reads it. */
const begin = Effect.gen(function*() {
  const real = yield* SqlClient.SqlClient
  const faults = Faults.make()
  const context = yield* Layer.build(FaultySqlClient.layer({ faults }))
  const sql = Context.get(context, SqlClient.SqlClient)
  yield* real`DROP TABLE IF EXISTS item`
  yield* real`CREATE TABLE item (id int4 PRIMARY KEY)`
  const ids = Effect.map(real<{ id: number }>`SELECT id FROM item ORDER BY id`, (rows) => rows.map(({ id }) => id))
  const insert = (id: number) => sql`INSERT INTO item (id) VALUES (${id})`
  return { faults, ids, insert, real, sql }
})

/** Plans a fault of the next matching call. */
const next = (place: Faults.Place, kind: Faults.Kind, millis = 0): Faults.PlannedFault => ({
  place,
  kind,
  millis,
  skip: 0,
  count: 1
})

/** Returns the class of a SQL error, or its SQLSTATE if it has none. */
const failureOf = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "success"
  const [reason] = exit.cause.reasons
  const error = reason?._tag === "Fail" ? reason.error : reason?._tag === "Die" ? reason.defect : undefined
  if (!SqlError.isSqlError(error)) return String(error)
  const { cause } = error.reason
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : error.reason._tag
}

layer(TestDatabase.postgres)("a database with faults", (it) => {
  it.effect("applies a commit whose response is lost", () =>
    Effect.gen(function*() {
      const { faults, ids, insert, sql } = yield* begin
      faults.plan(next("commit", "lostAfter"))
      assert.strictEqual(failureOf(yield* Effect.exit(sql.withTransaction(insert(1)))), "ConnectionError")
      assert.deepStrictEqual(yield* ids, [1])
    }))

  it.effect("rolls a transaction back whose connection is lost before its commit", () =>
    Effect.gen(function*() {
      const { faults, ids, insert, sql } = yield* begin
      faults.plan(next("commit", "lostBefore"))
      assert.strictEqual(failureOf(yield* Effect.exit(sql.withTransaction(insert(1)))), "ConnectionError")
      assert.deepStrictEqual(yield* ids, [])
      // The pool has a clean connection.
      yield* sql.withTransaction(insert(2))
      assert.deepStrictEqual(yield* ids, [2])
    }))

  it.effect("applies a statement whose response is lost", () =>
    Effect.gen(function*() {
      const { faults, ids, insert } = yield* begin
      faults.plan(next("statement", "lostAfter"))
      assert.strictEqual(failureOf(yield* Effect.exit(insert(1))), "ConnectionError")
      assert.deepStrictEqual(yield* ids, [1])
    }))

  it.effect("fails every later statement of a lost connection", () =>
    Effect.gen(function*() {
      const { faults, ids, insert, sql } = yield* begin
      // The first statement is `BEGIN`.
      faults.plan({ ...next("statement", "lostAfter"), skip: 1 })
      const both = Effect.andThen(Effect.exit(insert(1)), insert(2))
      assert.strictEqual(failureOf(yield* Effect.exit(sql.withTransaction(both))), "ConnectionError")
      assert.deepStrictEqual(yield* ids, [])
    }))

  for (const [kind, state] of [["readOnly", "25006"], ["full", "53100"], ["conflict", "40001"]] as const) {
    it.effect(`aborts the transaction of a statement that fails with ${state}`, () =>
      Effect.gen(function*() {
        const { faults, ids, insert, sql } = yield* begin
        faults.plan({ ...next("statement", kind), skip: kind === "conflict" ? 1 : 0 })
        assert.strictEqual(failureOf(yield* Effect.exit(sql.withTransaction(insert(1)))), state)
        faults.plan({ ...next("statement", kind), skip: kind === "conflict" ? 1 : 0 })
        const recovered = Effect.andThen(Effect.exit(insert(1)), insert(2))
        assert.strictEqual(failureOf(yield* Effect.exit(sql.withTransaction(recovered))), "25P02")
        faults.plan({ ...next("statement", kind), skip: kind === "conflict" ? 1 : 0 })
        assert.strictEqual(failureOf(yield* Effect.exit(sql.withTransaction(Effect.exit(insert(1))))), "40001")
        assert.deepStrictEqual(yield* ids, [])
      }))

    it.effect(`ends the transaction of a commit that fails with ${state}`, () =>
      Effect.gen(function*() {
        const { faults, ids, insert, real, sql } = yield* begin
        faults.plan(next("commit", kind))
        assert.strictEqual(failureOf(yield* Effect.exit(sql.withTransaction(insert(1)))), state)
        const open = yield* real`
          SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND state LIKE 'idle in transaction%'
        `
        assert.deepStrictEqual([open.length, yield* ids], [0, []])
      }))
  }

  it.effect("passes reads on while it is read-only", () =>
    Effect.gen(function*() {
      const { faults, insert, sql } = yield* begin
      faults.plan({ ...next("statement", "readOnly"), count: 100 })
      assert.strictEqual(failureOf(yield* Effect.exit(sql`SELECT id FROM item`)), "success")
      assert.strictEqual(failureOf(yield* Effect.exit(sql`SELECT id FROM item FOR UPDATE`)), "25006")
      assert.strictEqual(failureOf(yield* Effect.exit(insert(1))), "25006")
      assert.strictEqual(faults.hits(), 2)
    }))

  it.effect("delays and hangs in the time of the test", () =>
    Effect.gen(function*() {
      const { faults, ids, insert } = yield* begin
      faults.plan(next("statement", "hang", 5_000))
      faults.plan(next("statement", "delay", 5_000))
      const hung = yield* Effect.forkChild(Effect.exit(insert(1)), { startImmediately: true })
      const delayed = yield* Effect.forkChild(Effect.exit(insert(2)), { startImmediately: true })
      // Both have a connection, and wait.
      while (faults.hits() < 2) yield* Effect.yieldNow
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual([hung.pollUnsafe(), delayed.pollUnsafe()], [undefined, undefined])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(failureOf(yield* Fiber.join(hung)), "ConnectionError")
      assert.strictEqual(failureOf(yield* Fiber.join(delayed)), "success")
      assert.deepStrictEqual(yield* ids, [2])
    }))

  it.effect("refuses every statement of a host that was ended", () =>
    Effect.gen(function*() {
      const { faults, ids, insert } = yield* begin
      faults.kill()
      assert.strictEqual(failureOf(yield* Effect.exit(insert(1))), "ConnectionError")
      assert.deepStrictEqual(yield* ids, [])
    }))
})
