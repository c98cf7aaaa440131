import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Deferred, Effect, Fiber, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { setImmediate } from "node:timers/promises"
import * as Folding from "../src/Folding.ts"
import * as Rows from "../src/Rows.ts"
import { mapSql, type StorageError } from "../src/StorageError.ts"
import { layerSql, UnitOfWork } from "../src/UnitOfWork.ts"

/** Counters, a unit that increments some of them with a lock timeout of 50 ms, and a lock of one. */
const makeCounters = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE IF EXISTS counters`
  yield* sql`CREATE TABLE counters AS SELECT n::text AS id, 0 AS n FROM generate_series(0, 9) AS n`
  const addAll = (ids: ReadonlyArray<string>, onRun: Effect.Effect<unknown> = Effect.void) =>
    Effect.gen(function*() {
      yield* onRun
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
      Effect.forkScoped
    )
    yield* Deferred.await(locked)
    return Effect.andThen(Deferred.succeed(released, undefined), Fiber.join(holder))
  })
  const valueOf = (id: string) => Effect.map(sql`SELECT n FROM counters WHERE id = ${id}`, ([row]) => row?.["n"])
  return {
    addAll,
    lock,
    valueOf,
    call: yield* Folding.make({ name: "test.add", keyOf: (id: string) => id, run: (ids) => addAll(ids) })
  }
})

/**
 * Runs a test on a database. Its fibers end before the connections close: if an assertion failed while one of them held a
 * lock, the connections would wait for it, and the test would hang.
 */
const onDatabase = <A, E>(test: Effect.Effect<A, E, UnitOfWork | SqlClient.SqlClient | Scope.Scope>) =>
  test.pipe(Effect.scoped, Effect.provide(database))

/**
 * Attempts at what is only seen while a call waits for a lock. A call waits for up to 2 seconds of real time, and on a slow
 * machine nothing else may happen in that time.
 */
const attemptsMax = 50

/** Runs a call again that found a lock taken for too long. */
const patiently = <A, R>(call: Effect.Effect<A, StorageError, R>) =>
  Effect.retry(call, { times: attemptsMax, while: ({ reason }) => reason === "unavailable" })

it.live("delays only the folded calls of a locked key, and fails them if it stays locked", () =>
  onDatabase(Effect.gen(function*() {
    const { call, lock, valueOf } = yield* makeCounters
    const release = yield* lock("0")
    const block = Effect.forkScoped(Effect.flip(call("0")))
    const others = Array.from({ length: 30 }, (_, n) => `${n % 10}`).filter((id) => id !== "0")
    let blocked = yield* block
    let late = 0
    for (let undelayed = 0; undelayed < 10;) {
      yield* Effect.forEach(others, call, { concurrency: "unbounded" })
      if (blocked.pollUnsafe() === undefined) undelayed++
      else {
        assert.isAtMost(++late, attemptsMax, "Calls of other keys end only after the call of the locked key")
        blocked = yield* block
      }
    }
    assert.deepInclude(yield* Fiber.join(blocked), { _tag: "StorageError", reason: "unavailable" })

    const waiting = yield* Effect.forkScoped(patiently(call("0")), { startImmediately: true })
    yield* call("1")
    yield* release
    assert.strictEqual(yield* Fiber.join(waiting), "0")
    assert.strictEqual(yield* valueOf("0"), 1)
  })))

it.live("runs a unit again that waits for a lock, and holds no lock in between", () =>
  onDatabase(Effect.gen(function*() {
    const { addAll, lock, valueOf } = yield* makeCounters
    const release = yield* lock("5")
    const rerun = yield* Deferred.make<void>()
    const unit = Effect.suspend(() => {
      let runs = 0
      return addAll(["4", "5"], Effect.suspend(() => ++runs < 2 ? Effect.void : Deferred.succeed(rerun, undefined)))
    })
    const waiting = yield* Effect.forkScoped(patiently(unit), { startImmediately: true })
    // The calls of a unit that never runs again end with the last attempt.
    yield* Effect.raceFirst(Deferred.await(rerun), Fiber.join(waiting))
    assert.isUndefined(waiting.pollUnsafe())
    yield* Effect.forEach(Array.from({ length: 20 }), () => patiently(addAll(["4"])), { discard: true })
    yield* release
    yield* Fiber.join(waiting)
    assert.deepStrictEqual(yield* Effect.forEach(["4", "5"], valueOf), [21, 1])
  })))

it.live("reads a locked row as it was committed while the lock waited", () =>
  onDatabase(Effect.gen(function*() {
    const { valueOf } = yield* makeCounters
    const sql = yield* SqlClient.SqlClient
    const changed = yield* Deferred.make<void>()
    const commits = yield* Deferred.make<void>()
    yield* sql`UPDATE counters SET n = 5 WHERE id = '3'`.pipe(
      Effect.andThen(Deferred.succeed(changed, undefined)),
      Effect.andThen(Deferred.await(commits)),
      sql.withTransaction,
      Effect.forkScoped
    )
    yield* Deferred.await(changed)
    const reading = yield* Rows.lockById(sql, "counters", "3", valueOf("3")).pipe(
      sql.withTransaction,
      Effect.forkScoped
    )
    const waiting = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    while ((yield* waiting).length === 0) assert.isUndefined(reading.pollUnsafe(), "The read did not wait for the lock")
    yield* Deferred.succeed(commits, undefined)
    assert.strictEqual(yield* Fiber.join(reading), 5)
  })))

it.live("runs a unit again whose session Postgres ended because it was idle", () =>
  onDatabase(Effect.gen(function*() {
    const { addAll, valueOf } = yield* makeCounters
    const { atomically } = yield* UnitOfWork
    const sql = yield* SqlClient.SqlClient
    let runs = 0
    yield* atomically(Effect.gen(function*() {
      yield* addAll(["7"])
      if (++runs > 1) return
      const [session] = yield* sql`SELECT pg_backend_pid() AS pid`
      yield* sql`SET LOCAL idle_in_transaction_session_timeout = '50ms'`
      yield* awaitEnd(session!["pid"])
    }))
    assert.strictEqual(runs, 2)
    assert.strictEqual(yield* valueOf("7"), 1)
  })))

/** Waits until a session has ended, and this process has read its last message. Asks on another connection. */
const awaitEnd = (pid: unknown) =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* (yield* SqlClient.SqlClient).reserve
    const find = connection.execute("SELECT pid FROM pg_stat_activity WHERE pid = $1", [pid], undefined)
    while ((yield* find).length > 0);
    yield* Effect.promise(() => setImmediate())
  }))

const database = Layer.fresh(layerSql.pipe(Layer.provideMerge(TestDatabase.postgres)))
