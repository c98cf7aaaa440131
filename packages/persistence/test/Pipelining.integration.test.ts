import { assert, it } from "@effect/vitest"
import { RoundTrips } from "@kinora/testkit"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Folding from "../src/Folding.ts"
import * as Pipelining from "../src/Pipelining.ts"
import { mapSql, type StorageError } from "../src/StorageError.ts"
import { suite } from "../src/testing.ts"
import { UnitOfWork } from "../src/UnitOfWork.ts"
import { database, makeCells, over, Refused, stateOf, tagOf } from "./PipelinedCells.ts"

suite("Postgres, pipelined", over(database))

it.live("a read, a decision and writes cost two round trips", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    yield* Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { insertBegun, keys, lock, write, writeAtCommit } = yield* makeCells
      const unit = (key: string) =>
        Effect.all([lock(key), writeAtCommit(`${key}1`, 1), writeAtCommit(`${key}2`, 2)]).pipe(atomically)
      yield* unit("a")
      const costs = {
        unit: yield* costOf(unit("b")),
        // Without `atCommit`, and the first statement writes, which may not go with a `BEGIN` that fails.
        write: yield* costOf(atomically(write("c", 1))),
        writeAtCommit: yield* costOf(atomically(writeAtCommit("d", 1))),
        reads: yield* costOf(atomically(Pipelining.both(lock("a1"), Pipelining.both(lock("a2"), lock("b1"))))),
        insertBegun: yield* costOf(atomically(insertBegun("e", 1))),
        nothing: yield* costOf(atomically(Effect.void))
      }
      assert.deepStrictEqual(costs, {
        unit: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
        // Nothing is read, so all network writes count.
        write: { statements: 3, roundTrips: 3, writesAfterLock: 1, writesAfterRead: 3 },
        writeAtCommit: { statements: 3, roundTrips: 2, writesAfterLock: 0, writesAfterRead: 2 },
        reads: { statements: 5, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
        insertBegun: { statements: 3, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
        nothing: { statements: 0, roundTrips: 0, writesAfterLock: 0, writesAfterRead: 0 }
      })
      assert.deepStrictEqual(yield* keys, ["a1", "a2", "b1", "b2", "c", "d", "e"])
    }).pipe(Effect.provide(over(database)))
  }).pipe(Effect.scoped))

it.effect("later statements of a unit see its deferred writes", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, sql, write, writeAtCommit } = yield* makeCells
    const seen = yield* writeAtCommit("a", 1).pipe(
      Effect.andThen(writeAtCommit("b", 1)),
      Effect.andThen(sql<{ key: string }>`SELECT key FROM cells ORDER BY key`.stream.pipe(Stream.runCollect)),
      Effect.flatMap((streamed) => Effect.map(write("c", 1), () => streamed.map(({ key }) => key))),
      Effect.flatMap((streamed) => Effect.map(keys, (keys) => [streamed, keys])),
      atomically
    )
    assert.deepStrictEqual(seen, [["a", "b"], ["a", "b", "c"]])
  }).pipe(Effect.provide(over(database))))

it.effect("the second of two effects sees the write of the first one, which waits for BEGIN", () =>
  Effect.gen(function*() {
    const { insert, keys, sql } = yield* makeCells
    const [, seen] = yield* sql.withTransaction(Pipelining.both(insert("a", 1), keys))
    assert.deepStrictEqual(seen, ["a"])
  }).pipe(Effect.provide(over(database))))

it.effect("a deferred write that fails undoes the unit, whose callbacks do not run", () =>
  Effect.gen(function*() {
    const { afterCommit, atomically } = yield* UnitOfWork
    const { keys, writeAtCommit } = yield* makeCells
    let called = 0
    const error = yield* Effect.flip(atomically(Effect.all([
      afterCommit(Effect.sync(() => void called++)),
      writeAtCommit("a", 1),
      writeAtCommit("a", 2),
      writeAtCommit("b", 1)
    ])))
    assert.strictEqual(tagOf(error), "StorageError failed")
    // That of the write, not that of the statements after it or of the commit.
    assert.strictEqual(stateOf(error), "23505")
    assert.deepStrictEqual([called, yield* keys], [0, []])
    // The connection is free and outside of a transaction.
    yield* atomically(writeAtCommit("c", 1))
    assert.deepStrictEqual(yield* keys, ["c"])
  }).pipe(Effect.provide(over(database))))

it.effect("a deferred write that cannot be sent undoes the unit", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, sql, writeAtCommit } = yield* makeCells
    const error = yield* Effect.flip(
      atomically(Effect.all([writeAtCommit("a", 1), writeAtCommit("b", Symbol("no parameter")), writeAtCommit("c", 1)]))
    )
    assert.strictEqual(tagOf(error), "StorageError failed")
    assert.deepStrictEqual(yield* keys, [])
    const left = yield* sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'
    `
    assert.strictEqual(left.length, 0)
    yield* atomically(writeAtCommit("d", 1))
    assert.deepStrictEqual(yield* keys, ["d"])
  }).pipe(Effect.provide(over(database))))

it.effect("an error of a deferred write can stand for a defect", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { insert, keys, sql } = yield* makeCells
    const defect = new Error("stale")
    const write = Pipelining.write(sql, insert("a", "no number"), () => defect)
    for (const effect of [write, Pipelining.atCommit(write)]) {
      assert.deepStrictEqual(yield* Effect.exit(atomically(effect)), Exit.die(defect))
    }
    assert.deepStrictEqual(yield* keys, [])
  }).pipe(Effect.provide(over(database))))

it.effect("nothing is written if the unit fails or is interrupted, and its connection can be used again", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, sql, writeAtCommit } = yield* makeCells
    assert.instanceOf(yield* Effect.flip(atomically(Effect.andThen(writeAtCommit("a", 1), new Refused()))), Refused)
    const begun = yield* Deferred.make<void>()
    const unit = yield* Effect.forkChild(atomically(Effect.all([
      writeAtCommit("b", 1),
      sql`SELECT 1`,
      writeAtCommit("c", 1),
      Deferred.succeed(begun, undefined),
      sql`SELECT pg_sleep(0.2)`
    ])))
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(unit)
    assert.deepStrictEqual(yield* keys, [])
    yield* Effect.forEach(Array.from({ length: 20 }), (_, id) => atomically(writeAtCommit(`d${id}`, 1)), {
      concurrency: "unbounded"
    })
    assert.strictEqual((yield* keys).length, 20)
  }).pipe(Effect.provide(over(database))))

it.effect("a write in a savepoint fails there, and is undone with it", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, sql, writeAtCommit } = yield* makeCells
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* atomically(writeAtCommit("kept", 1))
      yield* Effect.flip(atomically(Effect.andThen(writeAtCommit("undone", 1), new Refused())))
      assert.strictEqual(stateOf(yield* Effect.flip(atomically(writeAtCommit("kept", 2)))), "23505")
      yield* writeAtCommit("also kept", 1)
    }))
    assert.deepStrictEqual(yield* keys, ["also kept", "kept"])
  }).pipe(Effect.provide(over(database))))

it.effect("if BEGIN fails, nothing of the unit takes effect", () =>
  Effect.gen(function*() {
    const { keys, sql, write, writeAtCommit } = yield* makeCells
    const wrong = Effect.provideService(SqlClient.BeginTransaction, "BEGIN ISOLATION LEVEL WRONG")
    for (
      const body of [
        write("a", 1),
        writeAtCommit("b", 1),
        Effect.andThen(sql`SELECT 1`, write("c", 1)),
        // The caller recovers and continues.
        Effect.andThen(
          Effect.ignore(sql`SELECT 1`),
          Effect.andThen(writeAtCommit("d", 1), Effect.ignore(write("e", 1)))
        )
      ]
    ) {
      const exit = yield* Effect.exit(
        sql.withTransaction<never, StorageError | SqlError.SqlError, unknown>(body).pipe(wrong)
      )
      assert.isTrue(Exit.isFailure(exit))
    }
    assert.deepStrictEqual(yield* keys, [])
  }).pipe(Effect.provide(over(database))))

it.effect("a folded set of pipelined units applies each command once", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { keys, lock, writeAtCommit } = yield* makeCells
    const put = yield* Folding.make({
      name: "test.put",
      keyOf: (key: string) => key,
      run: (keys: ReadonlyArray<string>) =>
        Effect.forEach(keys, (key) => Effect.andThen(lock(key), writeAtCommit(key, 1))).pipe(
          mapSql("test.put"),
          atomically
        )
    })
    const wanted = Array.from({ length: 200 }, (_, id) => `k${id}`)
    const exits = yield* Effect.forEach([...wanted, ...wanted], (key) => Effect.exit(put(key)), {
      concurrency: "unbounded"
    })
    assert.strictEqual(exits.filter(Exit.isSuccess).length, 200)
    assert.strictEqual((yield* keys).length, 200)
  }).pipe(Effect.provide(over(database))))
