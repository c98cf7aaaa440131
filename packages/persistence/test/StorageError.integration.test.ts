import { assert, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as StorageError from "../src/StorageError.ts"

const reasonOf = (code: string) => {
  const reason = new SqlError.UnknownError({ cause: { code }, message: "Query failed", operation: "query" })
  return StorageError.fromSql("test", new SqlError.SqlError({ reason })).reason
}

it("reports failures of the server as unavailable, and those of the statement as failed", () => {
  const ofServer = ["08006", "25006", "25P04", "40003", "53100", "53300", "57P01", "57P03", "58030"]
  assert.deepStrictEqual(ofServer.filter((code) => reasonOf(code) !== "unavailable"), [])
  assert.strictEqual(reasonOf("25P03"), "conflict")
  const ofStatement = ["", "22003", "23505", "25001", "25P02", "42P01", "54001", "P0001", "XX000"]
  assert.deepStrictEqual(ofStatement.filter((code) => reasonOf(code) !== "failed"), [])
})

it.effect("reports a read-only and a full embedded database as unavailable", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const reasonOf = <A>(effect: Effect.Effect<A, SqlError.SqlError>) =>
      Effect.map(Effect.flip(StorageError.mapSql("test")(effect)), ({ reason }) => reason)
    yield* sql`CREATE TABLE rows (id int)`
    const write = sql`INSERT INTO rows VALUES (1)`
    const readOnly = sql.withTransaction(Effect.andThen(sql`SET TRANSACTION READ ONLY`, write))
    assert.strictEqual(yield* reasonOf(readOnly), "unavailable")
    const full = sql`DO $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = 'disk_full'; END $$`
    assert.strictEqual(yield* reasonOf(full), "unavailable")
    yield* write
  }).pipe(Effect.provide(TestDatabase.pglite)))
