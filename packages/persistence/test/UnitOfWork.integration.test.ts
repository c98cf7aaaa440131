import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Deferred, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StorageError } from "../src/StorageError.ts"
import { layerSql, UnitOfWork } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"
import { suite } from "./UnitOfWorkContract.ts"

const over = (database: TestDatabase.TestDatabase) =>
  Layer.mergeAll(layerSql, Cells.layerSql).pipe(Layer.provideMerge(database))

for (const [name, database] of TestDatabase.all) suite(name, over(database))

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

it.effect("does not repeat a unit whose connection was lost, and says that storage is unavailable", () =>
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
