import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type pg from "pg"
import * as External from "../src/external.ts"
import { suite } from "../src/testing.ts"
import { layerSql, UnitOfWork } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"
import * as PgPool from "./PgPool.ts"

const over = (pool: pg.Pool) => Layer.merge(layerSql, Cells.layerSql).pipe(Layer.provideMerge(External.layerPg(pool)))

suite("pool of pg", Layer.unwrap(Effect.map(PgPool.pool, over)))

/** Runs a test with units on a pool, and a client of the pool on which a caller has begun a transaction. */
const withCaller = <E>(
  test: (client: pg.PoolClient) => Effect.Effect<void, E, Cells.Cells | SqlClient.SqlClient | UnitOfWork>
) =>
  Effect.gen(function*() {
    const pool = yield* PgPool.pool
    const client = yield* Effect.promise(() => pool.connect())
    yield* Effect.addFinalizer(() => Effect.sync(() => client.release(true)))
    yield* Effect.provide(
      Effect.gen(function*() {
        const { put } = yield* Cells.Cells
        yield* put("before", 1)
        yield* query(client, "BEGIN")
        yield* test(client)
      }),
      over(pool)
    )
  })

const query = (client: pg.PoolClient, text: string) => Effect.promise(() => client.query(text))

it.effect("commits with the transaction of the caller, whose work is visible to it", () =>
  withCaller((client) =>
    Effect.gen(function*() {
      const { get, put } = yield* Cells.Cells
      const sql = yield* SqlClient.SqlClient
      const join = External.join(External.fromPg(client))
      yield* query(client, "CREATE TABLE request (id int)")
      yield* query(client, "INSERT INTO request VALUES (1)")
      yield* join(put("joined", 1))
      assert.deepStrictEqual(yield* join(sql`SELECT id FROM request`), [{ id: 1 }])
      assert.isUndefined(yield* get("joined"))
      yield* query(client, "COMMIT")
      assert.strictEqual(yield* get("joined"), 1)
    })
  ))

it.effect("is undone with the transaction of the caller", () =>
  withCaller((client) =>
    Effect.gen(function*() {
      const { get, put } = yield* Cells.Cells
      yield* External.join(External.fromPg(client))(put("joined", 1))
      yield* query(client, "ROLLBACK")
      assert.isUndefined(yield* get("joined"))
    })
  ))

it.effect("undoes a call that fails, and leaves what the caller and other calls wrote", () =>
  withCaller((client) =>
    Effect.gen(function*() {
      const { get, put } = yield* Cells.Cells
      const sql = yield* SqlClient.SqlClient
      const { atomically } = yield* UnitOfWork
      const join = External.join(External.fromPg(client))
      yield* join(put("first", 1))
      const failed = yield* Effect.flip(join(Effect.andThen(put("second", 1), sql`SELECT 1 / 0`)))
      assert.strictEqual(failed._tag, "StorageError")
      const inner = Effect.andThen(put("inner", 1), Effect.fail("inner" as const))
      // A savepoint within the savepoint of the call.
      yield* join(Effect.andThen(put("third", 1), Effect.flip(sql.withTransaction(inner))))
      yield* join(atomically(put("fourth", 1)))
      yield* query(client, "COMMIT")
      const found = yield* Effect.forEach(["first", "second", "third", "inner", "fourth"], get)
      assert.deepStrictEqual(found, [1, undefined, 1, undefined, 1])
    })
  ))

it.effect("keeps what is to run after the commit until the caller has committed", () =>
  withCaller((client) =>
    Effect.gen(function*() {
      const { afterCommit } = yield* UnitOfWork
      const { get, put } = yield* Cells.Cells
      const transaction = External.fromPg(client)
      const join = External.join(transaction)
      const seen: Array<string> = []
      const note = (text: string) =>
        afterCommit(Effect.orDie(Effect.map(get("joined"), (value) => void seen.push(`${text} ${value}`))))
      yield* join(Effect.andThen(put("joined", 1), note("joined")))
      yield* Effect.flip(join(Effect.andThen(note("undone"), Effect.fail("undone" as const))))
      yield* query(client, "COMMIT")
      assert.deepStrictEqual(seen, [])
      yield* External.committed(transaction)
      assert.deepStrictEqual(seen, ["joined 1"])
      yield* External.committed(transaction)
      assert.deepStrictEqual(seen, ["joined 1"])
    })
  ))

it.effect("runs calls that join one transaction at the same time one after the other", () =>
  withCaller((client) =>
    Effect.gen(function*() {
      const { get, put } = yield* Cells.Cells
      const increment = Effect.flatMap(get("before"), (value = 0) =>
        Effect.andThen(Effect.yieldNow, put("before", value + 1)))
      // Two objects for one client.
      yield* Effect.forEach(
        Array.from({ length: 10 }),
        () =>
          External.join(External.fromPg(client))(increment),
        { concurrency: "unbounded" }
      )
      yield* query(client, "COMMIT")
      assert.strictEqual(yield* get("before"), 11)
    })
  ))

it.effect("joins within a call that has joined, and dies inside of a unit of its own", () =>
  withCaller((client) =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells.Cells
      const join = External.join(External.fromPg(client))
      yield* join(Effect.andThen(put("outer", 1), External.join(External.fromPg(client))(put("inner", 1))))
      const exit = yield* Effect.exit(atomically(join(put("unit", 1))))
      assert.match(String(exit), /A unit of work is open/)
      yield* query(client, "COMMIT")
      assert.deepStrictEqual(yield* Effect.forEach(["outer", "inner", "unit"], get), [1, 1, undefined])
    })
  ))

it.effect("reads values as @effect/sql-pg does", () =>
  withCaller(() =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`
        SELECT 9007199254740993::int8 AS int8, ARRAY[1, NULL]::int8[] AS int8s, '2026-03-29'::date AS date, 0.5::float8 AS float8,
          ARRAY['2026-03-29', NULL]::date[] AS dates, '2026-03-29T01:30:00.123Z'::timestamptz AS at, '{"a": [1]}'::jsonb AS json,
          '\\x00ff'::bytea AS bytes, true AS yes, ARRAY['a,"b', NULL] AS texts, NULL::text AS nothing
      `
      assert.deepStrictEqual({ ...row, bytes: [...row!["bytes"] as Uint8Array] }, {
        int8: 9007199254740993n,
        int8s: [1n, null],
        date: "2026-03-29",
        float8: 0.5,
        dates: ["2026-03-29", null],
        at: new Date("2026-03-29T01:30:00.123Z"),
        json: { a: [1] },
        bytes: [0, 255],
        yes: true,
        texts: [`a,"b`, null],
        nothing: null
      })
    })
  ))
