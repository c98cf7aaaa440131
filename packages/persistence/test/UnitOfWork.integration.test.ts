import { assert, it } from "@effect/vitest"
import { Faults, FaultySqlClient, TestDatabase } from "@kinora/testkit"
import { Context, Data, Deferred, Effect, Layer, Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Folding from "../src/Folding.ts"
import { mapSql, StorageError } from "../src/StorageError.ts"
import { suite } from "../src/testing.ts"
import { layerSql, layerSqlWith, UnitOfWork, UnitTooLong } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.mergeAll(layerSql, Cells.layerSql).pipe(Layer.provideMerge(database))

const overFaulty = (database: TestDatabase.TestDatabase, faults: Faults.Faults) =>
  Layer.mergeAll(layerSql, Cells.layerSql).pipe(
    Layer.provideMerge(FaultySqlClient.layer({ faults })),
    Layer.provideMerge(database)
  )

for (const [name, database] of TestDatabase.all) {
  suite(name, over(database))

  it.effect(`is a savepoint inside a transaction of the caller (${name})`, () =>
    Effect.gen(function*() {
      const { afterCommit, atomically, isOpen } = yield* UnitOfWork
      const sql = yield* SqlClient.SqlClient
      const { get, put } = yield* Cells.Cells
      const seen: Array<string> = []
      yield* sql.withTransaction(Effect.gen(function*() {
        assert.isTrue(yield* isOpen)
        yield* atomically(put("kept", 1))
        yield* Effect.flip(atomically(Effect.andThen(put("undone", 1), new Undone())))
        yield* atomically(afterCommit(Effect.sync(() => void seen.push("after commit"))))
        seen.push("body")
      }))
      assert.deepStrictEqual(seen, ["body", "after commit"])
      assert.strictEqual(yield* get("kept"), 1)
      assert.isUndefined(yield* get("undone"))

      const undone = sql.withTransaction(Effect.andThen(atomically(put("rolled back", 1)), new Undone()))
      assert.instanceOf(yield* Effect.flip(undone), Undone)
      assert.isUndefined(yield* get("rolled back"))
    }).pipe(Effect.provide(over(database))))

  for (const opened of ["sql.withTransaction", "atomically"] as const) {
    it.effect(`undoes folded calls with the ${opened} that they are in, and no others (${name})`, () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE requests (id int PRIMARY KEY)`
        yield* sql`CREATE TABLE charges (id int PRIMARY KEY)`
        const charge = yield* Folding.make({
          name: "test.charge",
          run: (ids: ReadonlyArray<number>) =>
            Effect.forEach(ids, (id) => sql`INSERT INTO charges (id) VALUES (${id})`).pipe(
              mapSql("test.charge"),
              atomically
            )
        })
        const transaction = <A, E>(
          effect: Effect.Effect<A, E>
        ): Effect.Effect<A, E | SqlError.SqlError | StorageError> =>
          opened === "atomically"
            ? atomically(effect) as Effect.Effect<A, E | StorageError>
            : sql.withTransaction(effect)
        const request = (id: number) =>
          sql`INSERT INTO requests (id) VALUES (${id})`.pipe(
            Effect.andThen(charge(id)),
            Effect.andThen(id % 4 === 0 ? Effect.fail(new Undone()) : Effect.void),
            transaction,
            Effect.catchTag("Undone", () => Effect.void)
          )
        // Calls outside of transactions fold meanwhile.
        const alone = (id: number) => charge(-1 - id)
        yield* Effect.forEach(
          Array.from({ length: 200 }, (_, id) => id),
          (id) => Effect.all([request(id), alone(id)], { concurrency: 2 }),
          { concurrency: 40, discard: true }
        )
        const [counts] = yield* sql`
          SELECT
            (SELECT count(*)::int4 FROM requests) AS requests,
            (SELECT count(*)::int4 FROM charges WHERE id < 0) AS alone,
            (SELECT count(*)::int4 FROM requests FULL JOIN charges USING (id)
              WHERE id >= 0 AND (requests.id IS NULL OR charges.id IS NULL)) AS inconsistent
        `
        assert.deepStrictEqual(counts, { requests: 150, alone: 200, inconsistent: 0 })
      }).pipe(Effect.provide(over(database))))
  }
}

class Undone extends Data.TaggedError("Undone")<{}> {}

it.effect("does not cover another database", () =>
  Effect.gen(function*() {
    const here = yield* UnitOfWork
    const there = yield* Effect.map(Layer.build(Layer.fresh(over(TestDatabase.pglite))), (context) => ({
      ...Context.get(context, UnitOfWork),
      ...Context.get(context, Cells.Cells)
    }))
    const undone = there.atomically(Effect.andThen(there.put("there", 1), new Undone()))
    yield* here.atomically(Effect.gen(function*() {
      assert.isFalse(yield* there.isOpen)
      yield* Effect.flip(undone)
    }))
    assert.isUndefined(yield* there.get("there"))
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("does not run a unit again inside a transaction of the caller, who has to repeat the whole", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const sql = yield* SqlClient.SqlClient
    const conflict = new StorageError({ operation: "test", reason: "conflict", cause: "test" })
    let runs = 0
    const unit = atomically(Effect.suspend(() => {
      runs++
      return Effect.fail(conflict)
    }))
    assert.strictEqual(yield* Effect.flip(sql.withTransaction(unit)), conflict)
    assert.strictEqual(runs, 1)
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("runs a unit again after a serialization failure, and applies it once", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { get, put } = yield* Cells.Cells
    yield* put("conflict", 0)
    const bothRead = yield* Deferred.make<void>()
    let runs = 0
    const increment = atomically(Effect.gen(function*() {
      runs++
      const value = (yield* get("conflict")) ?? 0
      if (runs === 2) yield* Deferred.succeed(bothRead, undefined)
      yield* Deferred.await(bothRead)
      yield* put("conflict", value + 1)
    })).pipe(Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL REPEATABLE READ"))
    yield* Effect.all([increment, increment], { concurrency: 2 })
    assert.strictEqual(runs, 3)
    assert.strictEqual(yield* get("conflict"), 2)
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("runs a unit again on another connection if the server ends its session, at most as often as after conflicts", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { get, put } = yield* Cells.Cells
    const sql = yield* SqlClient.SqlClient
    const lossesOf = (losses: number) => {
      const unit = { runs: 0 }
      const run = atomically(Effect.gen(function*() {
        const value = (yield* get("lost")) ?? 0
        yield* put("lost", value + 1)
        if (unit.runs++ < losses) yield* sql`SELECT pg_terminate_backend(pg_backend_pid())`
        yield* put("last", value + 1)
      }))
      return { run, unit }
    }
    const once = lossesOf(1)
    yield* once.run
    assert.strictEqual(once.unit.runs, 2)
    assert.strictEqual(yield* get("lost"), 1)
    assert.strictEqual(yield* get("last"), 1)

    const always = lossesOf(Infinity)
    const error = yield* Effect.flip(always.run)
    assert.strictEqual(error.reason, "unavailable")
    assert.strictEqual(always.unit.runs, 6)
    assert.strictEqual(yield* get("lost"), 1)
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.live("runs a unit again that Postgres ended while it was idle, also if the unit notices it with its next statement", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { get, put } = yield* Cells.Cells
    const sql = yield* SqlClient.SqlClient
    let runs = 0
    yield* atomically(Effect.gen(function*() {
      const value = (yield* get("idle")) ?? 0
      yield* put("idle", value + 1)
      // Only the first run has the timeout: on a busy machine, Postgres could end each of them.
      if (runs++ === 0) {
        yield* sql`SELECT set_config('idle_in_transaction_session_timeout', '1ms', true)`
        // Blocks the process like a suspension, so that the next statement is written before the message is read.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      }
      yield* sql`SELECT set_config('idle_in_transaction_session_timeout', '0', true)`
    }))
    assert.isAtLeast(runs, 2)
    assert.strictEqual(yield* get("idle"), 1)
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

/** A unit of three statements over a client with faults. */
const faultyUnit = Effect.fnUntraced(function*(faults: Faults.Faults) {
  const { atomically } = yield* UnitOfWork
  const { get, put } = yield* Cells.Cells
  let runs = 0
  const unit = atomically(Effect.gen(function*() {
    runs++
    const value = (yield* get("faulty")) ?? 0
    yield* put("faulty", value + 1)
    yield* put("also", value + 1)
  }))
  return {
    /** Runs the unit with a fault. Returns the result, the number of runs, and how often the unit took effect. */
    runWith: Effect.fnUntraced(function*(fault: Pick<Faults.PlannedFault, "kind" | "place" | "skip">) {
      runs = 0
      const before = (yield* get("faulty")) ?? 0
      const hits = faults.hits()
      faults.plan({ ...fault, millis: 0, count: 1 })
      const result = yield* Effect.result(unit)
      assert.strictEqual(faults.hits(), hits + 1)
      const after = (yield* get("faulty")) ?? 0
      assert.strictEqual(yield* get("also"), after === 0 ? undefined : after)
      return { result: Result.isSuccess(result) ? "done" : result.failure.reason, runs, effects: after - before }
    })
  }
})

for (const [name, database] of TestDatabase.all) {
  it.effect(`takes effect once if its connection is lost at any statement before its COMMIT (${name})`, () => {
    const faults = Faults.make()
    return Effect.gen(function*() {
      const { runWith } = yield* faultyUnit(faults)
      // BEGIN, and the statements.
      for (const skip of [0, 1, 2, 3]) {
        for (const kind of ["lostBefore", "lostAfter"] as const) {
          const { effects, result, runs } = yield* runWith({ kind, place: "statement", skip })
          // A body does not run before its BEGIN has succeeded.
          assert.deepStrictEqual({ effects, result, runs }, { effects: 1, result: "done", runs: skip === 0 ? 1 : 2 })
        }
      }
    }).pipe(Effect.provide(overFaulty(database, faults)))
  })

  it.effect(`is not repeated if its connection is lost once its COMMIT may have been written (${name})`, () => {
    const faults = Faults.make()
    return Effect.gen(function*() {
      const { runWith } = yield* faultyUnit(faults)
      assert.deepStrictEqual(yield* runWith({ kind: "lostAfter", place: "commit", skip: 0 }), {
        effects: 1,
        result: "unavailable",
        runs: 1
      })
      assert.deepStrictEqual(yield* runWith({ kind: "lostBefore", place: "commit", skip: 0 }), {
        effects: 0,
        result: "unavailable",
        runs: 1
      })
    }).pipe(Effect.provide(overFaulty(database, faults)))
  })
}

it.effect("rolls back a unit that is open at its deadline, and fails as unavailable", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { get, put } = yield* Cells.Cells
    const sql = yield* SqlClient.SqlClient
    const late = atomically(Effect.andThen(put("late", 1), sql`SELECT pg_sleep(60)`))
    // Also where nothing else can interrupt it, as in a drain.
    const { cause, reason } = yield* Effect.flip(Effect.uninterruptible(late))
    assert.strictEqual(reason, "unavailable")
    assert.instanceOf(cause, UnitTooLong)
    assert.isUndefined(yield* get("late"))
    yield* atomically(put("next", 1))
    assert.strictEqual(yield* get("next"), 1)
  }).pipe(Effect.provide(
    Layer.merge(layerSqlWith({ deadline: "200 millis" }), Cells.layerSql).pipe(
      Layer.provideMerge(TestDatabase.postgres)
    )
  )))
