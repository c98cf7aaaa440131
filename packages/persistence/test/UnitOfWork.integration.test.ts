import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Context, Data, Deferred, Effect, Exit, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Folding from "../src/Folding.ts"
import { mapSql, StorageError } from "../src/StorageError.ts"
import { layerSql, layerSqlWith, UnitOfWork, UnitTooLong } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"
import { suite } from "./UnitOfWorkContract.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.mergeAll(layerSql, Cells.layerSql).pipe(Layer.provideMerge(database))

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

it.effect("does not repeat a unit whose connection was lost, and fails as unavailable", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const sql = yield* SqlClient.SqlClient
    let runs = 0
    const exit = yield* atomically(Effect.gen(function*() {
      runs++
      const [backend] = yield* sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
      yield* sql`SELECT pg_terminate_backend(${backend!.pid})`
      yield* sql`SELECT 1`
    })).pipe(Effect.exit)
    assert.strictEqual(runs, 1)
    assert.isTrue(Exit.isFailure(exit))
    const error = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
    assert.isTrue(error?._tag === "Fail" && error.error instanceof StorageError && error.error.reason === "unavailable")
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

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
