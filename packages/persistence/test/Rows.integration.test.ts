import { assert, describe, it } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Rows from "../src/Rows.ts"

const uuid = "0190a8e0-0000-7000-8000-000000000001"
const at = DateTime.makeUnsafe("2031-02-03T04:05:06.789Z")

/** One value of every column type. */
interface Everything {
  readonly id: string
  readonly big: number | bigint
  readonly small: number
  readonly ratio: number
  readonly yes: boolean
  readonly bytes: Uint8Array
  readonly day: string
  readonly at: DateTime.Utc
  readonly plain: Schema.Json
  readonly stored: Schema.Json
  readonly note: string | null | undefined
}

const columns: Rows.Columns<Everything> = {
  id: ["uuid", (row) => row.id],
  big: ["int8", (row) => row.big],
  small: ["int4", (row) => row.small],
  ratio: ["float8", (row) => row.ratio],
  yes: ["boolean", (row) => row.yes],
  bytes: ["bytea", (row) => row.bytes],
  day: ["date", (row) => row.day],
  at: ["timestamptz", (row) => row.at],
  plain: ["json", (row) => row.plain],
  stored: ["jsonb", (row) => row.stored],
  note: ["text?", (row) => row.note]
}

const everything = (small: number, more: Partial<Everything> = {}): Everything => ({
  id: uuid,
  big: 1,
  small,
  ratio: small,
  yes: true,
  bytes: new Uint8Array([0, 255]),
  day: "2031-02-03",
  at,
  plain: { a: [1, null, "}"] },
  stored: null,
  note: undefined,
  ...more
})

const nullable: Rows.Columns<number | null> = {
  number: ["int8?", (value) => value],
  id: ["uuid?", () => undefined],
  json: ["jsonb?", () => null]
}

for (const [name, database] of TestDatabase.all) {
  describe(`Rows (${name})`, () => {
    it.effect("inserts a row of every column type, and reads it back", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          CREATE TABLE rows_everything (
            id uuid, big int8, small int4, ratio float8, yes boolean, bytes bytea, day date, at timestamptz, plain json, stored jsonb,
            note text
          )
        `
        const rows = [everything(1, { big: 2n ** 60n }), everything(2, { ratio: 1.5, note: "quoted \\ \" ' {}" })]
        yield* sql`INSERT INTO rows_everything ${Rows.unnest(rows, columns)}`
        const found = yield* sql`
          SELECT id::text, big::text, small, ratio, yes, encode(bytes, 'hex') AS bytes, day::text, at, plain::text,
            stored::text, note
          FROM rows_everything ORDER BY small
        `
        const common = { id: uuid, yes: true, bytes: "00ff", day: "2031-02-03", at: DateTime.toDateUtc(at) }
        const json = { plain: "{\"a\":[1,null,\"}\"]}", stored: "null" }
        assert.deepStrictEqual(found, [
          { ...common, ...json, big: String(2n ** 60n), small: 1, ratio: 1, note: null },
          { ...common, ...json, big: "1", small: 2, ratio: 1.5, note: "quoted \\ \" ' {}" }
        ])
      }).pipe(Effect.provide(database)))

    it.effect("passes sets of no rows, of nulls only, and of nulls among values", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const select = (values: ReadonlyArray<number | null>) =>
          sql`
            SELECT number::text, id::text, json, place::int4
            FROM ${Rows.table("wanted", values, nullable, { place: "place" })} ORDER BY place
          `
        const row = (number: string | null, place: number) => ({ number, id: null, json: null, place })
        assert.deepStrictEqual(yield* select([]), [])
        assert.deepStrictEqual(yield* select([null, null]), [row(null, 1), row(null, 2)])
        assert.deepStrictEqual(yield* select([7, null, 2 ** 40]), [row("7", 1), row(null, 2), row(String(2 ** 40), 3)])
      }).pipe(Effect.provide(database)))

    it.effect("reads fields with the names of their columns", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const columns = {
          ...Rows.fields({ note: "text?", small: "int4", stored: "jsonb" }),
          double: ["int4", ({ small }: Everything) => 2 * small]
        } as const
        const rows = [everything(1, { note: "first" }), everything(2, { stored: { a: 1 } })]
        assert.deepStrictEqual(
          yield* sql`SELECT note, small, stored, double FROM ${Rows.table("wanted", rows, columns)} ORDER BY small`,
          [{ note: "first", small: 1, stored: null, double: 2 }, { note: null, small: 2, stored: { a: 1 }, double: 4 }]
        )
      }).pipe(Effect.provide(database)))

    it.effect("passes arrays for ANY, empty ones too", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const count = (ids: ReadonlyArray<string>) =>
          sql`SELECT count(*)::int4 AS count FROM (VALUES (${uuid}::uuid)) AS v (id) WHERE id = ANY(${
            Rows.array("uuid", ids)
          })`
        assert.deepStrictEqual(yield* count([uuid]), [{ count: 1 }])
        assert.deepStrictEqual(yield* count([]), [{ count: 0 }])
      }).pipe(Effect.provide(database)))

    it.effect("keeps the plan of a statement whose arrays have an unknown length", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE rows_planned (id int4 PRIMARY KEY)`
        yield* sql`INSERT INTO rows_planned SELECT generate_series(1, 1000)`
        const plans = yield* sql.withTransaction(Effect.gen(function*() {
          for (let round = 0; round < 10; round++) {
            const known = yield* sql`SELECT id FROM rows_planned AS known WHERE id = ANY(${Rows.array("int4", [7])})`
            const unknown = yield* sql`
              SELECT id FROM rows_planned AS unknown WHERE id = ANY(${Rows.array("int4", [7], { unknownLength: true })})
            `
            const joined = yield* sql`
              SELECT joined.id
              FROM rows_planned AS joined
              JOIN ${Rows.table("wanted", [7], { id: ["int4", (id) => id] }, { unknownLength: true })} USING (id)
            `
            assert.deepStrictEqual([known, unknown, joined], [[{ id: 7 }], [{ id: 7 }], [{ id: 7 }]])
          }
          return yield* sql`
            SELECT substring(statement FROM 'AS (known|unknown|joined)') AS name, generic_plans > 0 AS "isKept"
            FROM pg_prepared_statements
            WHERE statement ~ 'rows_planned AS (known|unknown|joined)'
            ORDER BY 1
          `
        }))
        // PGlite prepares no statements.
        if (plans.length > 0) {
          assert.deepStrictEqual(plans, [
            { name: "joined", isKept: true },
            { name: "known", isKept: false },
            { name: "unknown", isKept: true }
          ])
        }
      }).pipe(Effect.provide(database)))

    it.effect("decodes rows, and fails with a SchemaError if one does not fit", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const decode = Rows.decodeAll(Schema.Struct({ id: Schema.Int }))
        assert.deepStrictEqual(yield* decode(sql`SELECT 1::int4 AS id`), [{ id: 1 }])
        const error = yield* Effect.flip(decode(sql`SELECT 'one' AS id`))
        assert.isTrue(Schema.isSchemaError(error))
      }).pipe(Effect.provide(database)))
  })
}
