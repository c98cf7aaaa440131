import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { setImmediate } from "node:timers/promises"
import * as Folding from "../src/Folding.ts"
import * as Rows from "../src/Rows.ts"
import { mapSql } from "../src/StorageError.ts"
import { layerSql, UnitOfWork } from "../src/UnitOfWork.ts"

/** Counters, a unit that increments some of them with a lock timeout of 50 ms, and a lock of one. */
const makeCounters = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE IF EXISTS counters`
  yield* sql`CREATE TABLE counters AS SELECT n::text AS id, 0 AS n FROM generate_series(0, 9) AS n`
  const addAll = (ids: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      yield* sql`SET LOCAL lock_timeout = '50ms'`
      yield* sql`SELECT FROM counters WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`
      yield* sql`UPDATE counters SET n = n + 1 WHERE id = ANY(${ids})`
      return ids
    }).pipe(mapSql("test.addAll"), atomically)

  /** Locks a counter until the returned effect runs. */
  const lock = Effect.fnUntraced(function*(id: string) {
    const locked = yield* Deferred.make<void>()
    const released = yield* Deferred.make<void>()
    const holder = yield* sql`SELECT FROM counters WHERE id = ${id} FOR UPDATE`.pipe(
      Effect.andThen(Deferred.succeed(locked, undefined)),
      Effect.andThen(Deferred.await(released)),
      sql.withTransaction,
      Effect.forkChild
    )
    yield* Deferred.await(locked)
    return Effect.andThen(Deferred.succeed(released, undefined), Fiber.join(holder))
  })
  const valueOf = (id: string) => Effect.map(sql`SELECT n FROM counters WHERE id = ${id}`, ([row]) => row?.["n"])
  return {
    addAll,
    lock,
    valueOf,
    call: yield* Folding.make({ name: "test.add", keyOf: (id: string) => id, run: addAll })
  }
})

it.live("delays only the folded calls of a locked key, and fails them if it stays locked", () =>
  Effect.gen(function*() {
    const { call, lock, valueOf } = yield* makeCounters
    const release = yield* lock("0")
    const blocked = yield* Effect.forkChild(Effect.flip(call("0")))
    for (let round = 0; round < 10; round++) {
      const others = Array.from({ length: 30 }, (_, n) => `${n % 10}`).filter((id) => id !== "0")
      yield* Effect.forEach(others, call, { concurrency: "unbounded" })
    }
    assert.isUndefined(blocked.pollUnsafe())
    const error = yield* Fiber.join(blocked)
    assert.deepInclude(error, { _tag: "StorageError", reason: "unavailable" })

    const waiting = yield* Effect.forkChild(call("0"), { startImmediately: true })
    yield* call("1")
    yield* release
    assert.strictEqual(yield* Fiber.join(waiting), "0")
    assert.strictEqual(yield* valueOf("0"), 1)
  }).pipe(Effect.provide(database)))

it.live("runs a unit again that waits for a lock, and holds no lock in between", () =>
  Effect.gen(function*() {
    const { addAll, lock, valueOf } = yield* makeCounters
    const release = yield* lock("5")
    const waiting = yield* Effect.forkChild(addAll(["4", "5"]), { startImmediately: true })
    yield* Effect.forEach(Array.from({ length: 20 }), () => addAll(["4"]), { discard: true })
    assert.isUndefined(waiting.pollUnsafe())
    yield* release
    yield* Fiber.join(waiting)
    assert.deepStrictEqual(yield* Effect.forEach(["4", "5"], valueOf), [21, 1])
  }).pipe(Effect.provide(database)))

it.live("reads a locked row as it was committed while the lock waited", () =>
  Effect.gen(function*() {
    const { valueOf } = yield* makeCounters
    const sql = yield* SqlClient.SqlClient
    const changed = yield* Deferred.make<void>()
    const commits = yield* Deferred.make<void>()
    yield* sql`UPDATE counters SET n = 5 WHERE id = '3'`.pipe(
      Effect.andThen(Deferred.succeed(changed, undefined)),
      Effect.andThen(Deferred.await(commits)),
      sql.withTransaction,
      Effect.forkChild
    )
    yield* Deferred.await(changed)
    const reading = yield* Rows.lockById(sql, "counters", "3", valueOf("3")).pipe(sql.withTransaction, Effect.forkChild)
    const waiting = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    while ((yield* waiting).length === 0);
    yield* Deferred.succeed(commits, undefined)
    assert.strictEqual(yield* Fiber.join(reading), 5)
  }).pipe(Effect.provide(database)))

it.live("runs a unit again whose session Postgres ended because it was idle", () =>
  Effect.gen(function*() {
    const { addAll, valueOf } = yield* makeCounters
    const { atomically } = yield* UnitOfWork
    const sql = yield* SqlClient.SqlClient
    let runs = 0
    yield* atomically(Effect.gen(function*() {
      yield* addAll(["7"])
      yield* sql`SET LOCAL idle_in_transaction_session_timeout = '50ms'`
      const [session] = yield* sql`SELECT pg_backend_pid() AS pid`
      if (++runs === 1) yield* awaitEnd(session!["pid"])
    }))
    assert.strictEqual(runs, 2)
    assert.strictEqual(yield* valueOf("7"), 1)
  }).pipe(Effect.provide(database)))

/** Waits until a session has ended, and this process has read its last message. Asks on another connection. */
const awaitEnd = (pid: unknown) =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* (yield* SqlClient.SqlClient).reserve
    const find = connection.execute("SELECT pid FROM pg_stat_activity WHERE pid = $1", [pid], undefined)
    while ((yield* find).length > 0);
    yield* Effect.promise(() => setImmediate())
  }))

const database = Layer.fresh(layerSql.pipe(Layer.provideMerge(TestDatabase.postgres)))
