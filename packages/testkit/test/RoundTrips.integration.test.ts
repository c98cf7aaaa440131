import { assert, it } from "@effect/vitest"
import { Data, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as RoundTrips from "../src/RoundTrips.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

it.live("network writes count after the first lock, and after the last read, of the transaction with the most", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.make
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // All but the first open a connection, whose start does not count.
      assert.deepStrictEqual(yield* costOf(Effect.replicateEffect(sql`SELECT 1`, 4, { concurrency: "unbounded" })), {
        statements: 4,
        roundTrips: 4,
        writesAfterLock: 0,
        writesAfterRead: 0
      })
      yield* sql`CREATE TABLE counter (id int4 PRIMARY KEY, value int4 NOT NULL)`
      yield* sql`INSERT INTO counter VALUES (1, 0)`
      const read = sql`SELECT value FROM counter`
      const lock = sql`SELECT value FROM counter WHERE id = ${1} FOR UPDATE`
      const lockName = sql`SELECT true FROM pg_advisory_xact_lock(1)`
      const write = sql`UPDATE counter SET value = value + 1`
      const returning = sql`UPDATE counter SET value = value + 1 RETURNING value`
      const inside = sql`
        WITH changed AS (
          -- RETURNING
          UPDATE counter SET value = value + (1) RETURNING id
        )
        DELETE FROM counter USING changed WHERE counter.id = - changed.id
      `
      const writesOf = <E>(operation: Effect.Effect<unknown, E>) =>
        Effect.map(costOf(operation), ({ writesAfterLock, writesAfterRead }) => [writesAfterLock, writesAfterRead])
      const unit = <E>(...statements: ReadonlyArray<Effect.Effect<unknown, E>>) =>
        sql.withTransaction(Effect.all(statements))
      yield* unit(read, write)

      assert.deepStrictEqual(yield* costOf(write), {
        statements: 1,
        roundTrips: 1,
        writesAfterLock: 0,
        writesAfterRead: 0
      })
      // This client waits for the response to each statement, BEGIN and COMMIT included.
      assert.deepStrictEqual(yield* costOf(unit(read, lock, read, write, write)), {
        statements: 7,
        roundTrips: 7,
        writesAfterLock: 4,
        writesAfterRead: 3
      })
      assert.deepStrictEqual(yield* writesOf(unit(read)), [0, 1])
      assert.deepStrictEqual(yield* writesOf(unit(lockName, read)), [2, 1])
      assert.deepStrictEqual(yield* writesOf(unit(returning)), [1, 1])
      // Nothing is read.
      assert.deepStrictEqual(yield* writesOf(unit(write)), [1, 3])
      assert.deepStrictEqual(yield* writesOf(unit(inside)), [1, 3])
      // A savepoint, which is rolled back and released, ends no transaction.
      const savepoint = Effect.ignore(unit(Effect.fail(new Refused())))
      assert.deepStrictEqual(yield* writesOf(unit(lock, savepoint)), [4, 4])
      assert.deepStrictEqual(yield* writesOf(Effect.andThen(unit(lock, write), unit(read, read))), [2, 2])
    }).pipe(Effect.provide(database))
  }).pipe(Effect.scoped))
