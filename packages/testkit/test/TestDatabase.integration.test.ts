/** The behaviour that stores rely on, which PGlite and Postgres share. */
import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { TestDatabase } from "../src/index.ts"

const reasonOf = <A, R>(effect: Effect.Effect<A, SqlError.SqlError, R>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason._tag)

for (const [name, database] of TestDatabase.all) {
  layer(database)(`TestDatabase (${name})`, (it) => {
    it.effect("starts empty", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`, [])
      }))

    it.effect("returns the same types on both databases", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql`
          SELECT
            1::int4 AS small,
            9007199254740993::int8 AS large,
            1.5::float8 AS real,
            'a' AS word,
            true AS flag,
            NULL::text AS nothing,
            '2026-01-02T03:04:05.678Z'::timestamptz AS moment,
            '{"a":[1]}'::jsonb AS document,
            ARRAY[1, 2]::int4[] AS list,
            '\\x0102'::bytea AS bytes,
            '0190163d-8694-739b-aea5-966c26f8ad91'::uuid AS id
        `
        assert.deepStrictEqual({ ...row, bytes: [...row!["bytes"] as Uint8Array] }, {
          small: 1,
          large: 9007199254740993n,
          real: 1.5,
          word: "a",
          flag: true,
          nothing: null,
          moment: new Date("2026-01-02T03:04:05.678Z"),
          document: { a: [1] },
          list: [1, 2],
          bytes: [1, 2],
          id: "0190163d-8694-739b-aea5-966c26f8ad91"
        })
      }))

    it.effect("fails with the same reasons on both databases", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE parent (id int PRIMARY KEY, age int CHECK (age >= 0))`
        yield* sql`CREATE TABLE child (parent int NOT NULL REFERENCES parent (id))`
        yield* sql`INSERT INTO parent VALUES (1, 1)`
        assert.deepStrictEqual(
          [
            yield* reasonOf(sql`INSERT INTO parent VALUES (1, 1)`),
            yield* reasonOf(sql`INSERT INTO parent VALUES (2, -1)`),
            yield* reasonOf(sql`INSERT INTO child VALUES (3)`),
            yield* reasonOf(sql`INSERT INTO child VALUES (NULL)`),
            yield* reasonOf(sql`SELEC 1`),
            yield* reasonOf(sql`SELECT id FROM nowhere`)
          ],
          [
            "UniqueViolation",
            "ConstraintError",
            "ConstraintError",
            "ConstraintError",
            "SqlSyntaxError",
            "SqlSyntaxError"
          ]
        )
      }))

    it.effect("supports the statements that stores use", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE job (id uuid PRIMARY KEY, state text NOT NULL)`
        const ids = ["0190163d-8694-739b-aea5-966c26f8ad91", "0190163d-8694-739b-aea5-966c26f8ad92"]
        yield* sql`INSERT INTO job (id, state) SELECT id, 'queued' FROM unnest(${ids}::uuid[]) AS t (id)`
        const claimed = yield* sql.withTransaction(sql`
          UPDATE job SET state = 'claimed'
          WHERE id IN (SELECT id FROM job WHERE state = 'queued' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
          RETURNING id
        `)
        assert.deepStrictEqual(claimed, [{ id: ids[0] }])
        assert.deepStrictEqual(yield* sql`SELECT id FROM job WHERE id = ANY(${ids}::uuid[]) AND state = 'queued'`, [
          { id: ids[1] }
        ])
      }))

    it.effect("sends a notification if and only if the transaction commits", () =>
      Effect.gen(function*() {
        const sql = yield* PgClient.PgClient
        const heard = yield* sql.listen("news")
        const say = (word: string) => sql`SELECT pg_notify('news', ${word})`
        yield* Effect.exit(sql.withTransaction(Effect.andThen(say("undone"), Effect.fail("no"))))
        yield* sql.withTransaction(say("done"))
        assert.strictEqual((yield* Queue.take(heard)).payload, "done")
      }).pipe(Effect.scoped))
  })

  it.effect(`drops the tables, functions and settings of a suite (${name})`, () =>
    Effect.gen(function*() {
      const create = Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SHOW work_mem`, [{ work_mem: "4MB" }])
        yield* sql`CREATE TABLE only_here (id int)`
        yield* sql`CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'`
        yield* sql`SET work_mem TO '7MB'`
      })
      yield* Effect.provide(create, database)
      yield* Effect.provide(create, database)
    }))

  it.effect(`shares nothing between two suites (${name})`, () =>
    Effect.gen(function*() {
      const create = Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE only_here (id int)`
        yield* sql`CREATE SCHEMA own`
      })
      yield* Effect.provide(create, database)
      yield* Effect.provide(create, database)
    }))
}

it.effect("creates a database for processes that connect themselves", () =>
  Effect.gen(function*() {
    const url = new URL(yield* TestDatabase.postgresUrl)
    assert.match(url.pathname, /^\/test_[0-9a-f]{32}$/)
  }).pipe(Effect.scoped))
