/** Calls in transactions of each driver. */
import { assert, describe, it } from "@effect/vitest"
import * as CallerTransactions from "@kinora/testkit/CallerTransactions"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as External from "../src/external.ts"
import * as Rows from "../src/Rows.ts"
import { suite } from "../src/testing.ts"
import { layerSql, UnitOfWork } from "../src/UnitOfWork.ts"
import * as callers from "./callers.ts"
import * as Cells from "./Cells.ts"

for (const [name, driver] of callers.drivers) {
  suite(`transactions of ${name}`, callers.layer(driver))

  describe(`a call in a transaction of ${name}`, () => {
    /** Runs a test with a program, its calls, and units outside of its transactions. */
    const withProgram = (
      test: (
        program: callers.Program,
        run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>
      ) => Promise<void>
    ) =>
      Effect.gen(function*() {
        const { pool, program } = yield* CallerTransactions.open(driver)
        const layer = Layer.merge(layerSql, Cells.layerSql).pipe(Layer.provideMerge(External.layerPg(pool)))
        yield* Effect.gen(function*() {
          const context = yield* Effect.context<Services>()
          const run = <A, E>(effect: Effect.Effect<A, E, Services>) =>
            Effect.runPromise(Effect.provideContext(effect, context))
          yield* Effect.promise(() => test(program, run))
        }).pipe(Effect.provide(layer))
      })

    it.effect("commits with the transaction, and is undone with it", () =>
      withProgram(async ({ transaction }, run) => {
        await transaction(async ({ query, tx }) => {
          await query("INSERT INTO request VALUES ($1, $2)", ["first", "ada"])
          await run(External.join(tx)(put("committed", 1)))
          assert.deepStrictEqual(await query("SELECT id, value FROM request CROSS JOIN cells"), [
            { id: "first", value: 1 }
          ])
          assert.isUndefined(await run(get("committed")))
        })
        const undone = transaction(async ({ query, tx }) => {
          await query("INSERT INTO request VALUES ($1, $2)", ["second", "ada"])
          await run(External.join(tx)(put("undone", 1)))
          throw new Error("undone")
        })
        assert.match(String(await undone.catch((error: unknown) => error)), /undone/)
        assert.deepStrictEqual(await run(Effect.forEach(["committed", "undone"], get)), [1, undefined])
      }))

    it.effect("is undone if it fails, also by a failed statement, and keeps the transaction usable", () =>
      withProgram(async ({ transaction }, run) => {
        await transaction(async ({ query, tx }) => {
          await run(External.join(tx)(put("first", 1)))
          const refused = External.join(tx)(Effect.andThen(put("refused", 1), Effect.fail("refused" as const)))
          assert.strictEqual(await run(Effect.flip(refused)), "refused")
          const failed = External.join(tx)(Effect.andThen(put("failed", 1), divide))
          const error = await run(Effect.flip(failed))
          assert.deepInclude(error, { _tag: "StorageError", reason: "failed" })
          // A savepoint within that of the call.
          const recovered = SqlClient.SqlClient.use((sql) =>
            Effect.ignore(sql.withTransaction(Effect.andThen(put("inner", 1), divide)))
          )
          await run(External.join(tx)(Effect.andThen(recovered, put("outer", 1))))
          await query("INSERT INTO cells VALUES ('program', 1)")
        })
        const keys = ["first", "refused", "failed", "inner", "outer", "program"]
        assert.deepStrictEqual(await run(Effect.forEach(keys, get)), [1, undefined, undefined, undefined, 1, 1])
      }))

    it.effect("reports the constraint that it violated as such", () =>
      withProgram(async ({ transaction }, run) => {
        await run(put("taken", 1))
        await transaction(async ({ tx }) => {
          const insert = SqlClient.SqlClient.use((sql) => sql`INSERT INTO cells VALUES ('taken', 2)`)
          const violation = insert.pipe(Effect.flip, Effect.map(({ reason }) => reason._tag))
          const nested = SqlClient.SqlClient.use((sql) => Effect.flip(sql.withTransaction(Effect.flip(violation))))
          assert.strictEqual(await run(External.join(tx)(nested)), "UniqueViolation")
        })
      }))

    it.effect("is undone with a transaction within the transaction of the program", () =>
      withProgram(async ({ transaction }, run) => {
        await transaction(async ({ nested, tx }) => {
          if (nested === undefined) return
          await run(External.join(tx)(put("before", 1)))
          await nested((inner) => run(External.join(inner.tx)(put("kept", 1))))
          const undone = nested(async (inner) => {
            await run(External.join(inner.tx)(put("undone", 1)))
            throw new Error("undone")
          })
          assert.match(String(await undone.catch((error: unknown) => error)), /undone/)
          await run(External.join(tx)(put("after", 1)))
          assert.deepStrictEqual(
            await run(External.join(tx)(Effect.forEach(["before", "kept", "undone", "after"], get))),
            [1, 1, undefined, 1]
          )
        })
      }))

    it.effect("runs at the same time as others one after the other", () =>
      withProgram(async ({ transaction }, run) => {
        await run(put("count", 0))
        const increment = Effect.flatMap(get("count"), (value = 0) =>
          Effect.andThen(Effect.yieldNow, put("count", value + 1)))
        await transaction(async ({ tx }) => {
          await Promise.all(Array.from({ length: 10 }, () =>
            run(External.join(tx)(increment))))
        })
        assert.strictEqual(await run(get("count")), 10)
      }))

    it.effect("leaves nothing if the transaction is never committed because its session ends", () =>
      withProgram(async ({ lossFails, transaction }, run) => {
        const called = Promise.withResolvers<void>()
        const failed = transaction(async ({ query, tx }) => {
          await run(External.join(tx)(put("lost", 1)))
          const [session] = await query("SELECT pg_backend_pid() AS pid")
          const { pid } = session as { readonly pid: number }
          await run(SqlClient.SqlClient.use((sql) => sql`SELECT pg_terminate_backend(${pid})`))
          called.resolve()
          if (lossFails !== "statement") return await new Promise<void>(() => {})
          const error = await run(Effect.flip(External.join(tx)(put("next", 1))))
          assert.deepInclude(error, { _tag: "StorageError", reason: "unavailable" })
          throw new Error("ended")
        }).catch((error: unknown) => error)
        await called.promise
        if (lossFails !== "nothing") assert.instanceOf(await failed, Error)
        assert.deepStrictEqual(await run(Effect.forEach(["lost", "next"], get)), [undefined, undefined])
        // After the loss of a reserved connection, postgres.js may never return another one.
        if (lossFails === "nothing") return
        await transaction(({ tx }) => run(External.join(tx)(put("again", 1))))
        assert.strictEqual(await run(get("again")), 1)
      }))

    it.effect("fails after the transaction has ended", () =>
      withProgram(async ({ transaction }, run) => {
        const tx = await transaction(({ tx }) => Promise.resolve(tx))
        const error = await run(Effect.flip(External.join(tx)(put("late", 1))))
        assert.strictEqual(error._tag, "StorageError")
        assert.isUndefined(await run(get("late")))
      }))

    it.effect("runs what is left for the time after the commit when the program says so", () =>
      withProgram(async ({ transaction }, run) => {
        const seen: Array<number | undefined> = []
        const note = UnitOfWork.use(({ afterCommit }) =>
          afterCommit(Effect.promise(() => run(get("noted"))).pipe(Effect.map((value) => void seen.push(value))))
        )
        const tx = await transaction(async ({ tx }) => {
          await run(External.join(tx)(Effect.andThen(put("noted", 1), note)))
          return tx
        })
        assert.deepStrictEqual(seen, [])
        await run(External.committed(tx))
        assert.deepStrictEqual(seen, [1])
      }))

    it.effect("passes and returns values of every type", () =>
      withProgram(async ({ transaction }, run) => {
        await transaction(async ({ query, tx }) => {
          await query("SET LOCAL TimeZone = 'America/St_Johns'")
          assert.deepStrictEqual(await run(External.join(tx)(roundTrip)), values)
          assert.deepStrictEqual(await run(External.join(tx)(sets)), rows)
          const [zone] = await query("SELECT current_setting('TimeZone') AS zone")
          assert.deepStrictEqual({ ...zone }, { zone: "America/St_Johns" })
        })
      }))
  })
}

type Services = Cells.Cells | SqlClient.SqlClient | UnitOfWork

const put = (key: string, value: number) => Cells.Cells.use(({ put }) => put(key, value))

const get = (key: string) => Cells.Cells.use(({ get }) => get(key))

const divide = SqlClient.SqlClient.use((sql) => sql`SELECT 1 / 0`)

const values = {
  text_value: "O'Brien, \"\\{}",
  timesOfDay: DateTime.makeUnsafe("2026-03-29T01:30:00.123Z"),
  early: DateTime.makeUnsafe("0044-03-15T00:00:00Z"),
  int4: -7,
  int8: 9007199254740993n,
  float8: 0.1,
  yes: true,
  no: false,
  bytes: Uint8Array.of(0, 255, 92),
  json: { a: [1, "\"x\"", null] },
  jsonText: "text",
  uuid: "0192d8a0-0000-7000-8000-000000000000",
  texts: ["a,\"b\\", "NULL", ""],
  nothing: null,
  noTime: null
}

const Values = Schema.Struct({
  text_value: Schema.String,
  timesOfDay: Rows.timestamptz,
  early: Rows.timestamptz,
  int4: Schema.Int,
  int8: Rows.int8,
  float8: Schema.Finite,
  yes: Schema.Boolean,
  no: Schema.Boolean,
  bytes: Rows.bytea,
  json: Schema.Json,
  jsonText: Schema.Json,
  uuid: Schema.String,
  texts: Schema.Array(Schema.String),
  nothing: Schema.NullOr(Schema.String),
  noTime: Schema.NullOr(Rows.timestamptz)
})

const roundTrip = SqlClient.SqlClient.use((sql) =>
  Rows.decodeAll(Values)(sql`
    SELECT ${values.text_value}::text AS text_value, ${
    DateTime.toDateUtc(values.timesOfDay)
  }::timestamptz AS "timesOfDay",
      ${DateTime.toDateUtc(values.early)}::timestamptz AS early,
      ${values.int4}::int4 AS int4, ${values.int8}::int8 AS int8, ${values.float8}::float8 AS float8,
      ${values.yes}::bool AS yes, ${values.no}::bool AS no, ${values.bytes}::bytea AS bytes,
      ${JSON.stringify(values.json)}::jsonb AS json, ${JSON.stringify(values.jsonText)}::jsonb AS "jsonText",
      ${values.uuid}::uuid AS uuid, ${values.texts}::text[] AS texts,
      ${values.nothing}::text AS nothing, ${values.noTime}::timestamptz AS "noTime"
  `)
).pipe(Effect.map(([row]) => ({ ...row, bytes: Uint8Array.from(row!.bytes) })))

const rows = [
  {
    id: 1,
    at: values.timesOfDay,
    amount: 2n ** 53n + 1n,
    note: { a: 1 },
    data: values.bytes,
    day: "2026-03-29",
    yes: true
  },
  { id: 2, at: values.early, amount: 1n, note: null, data: Uint8Array.of(), day: "2026-12-31", yes: false }
]

const Row = Schema.Struct({
  id: Schema.Int,
  at: Rows.timestamptz,
  amount: Rows.int8,
  note: Schema.Json,
  data: Rows.bytea,
  day: Schema.String,
  yes: Schema.Boolean
})

const columns = Rows.fields({
  id: "int4",
  at: "timestamptz",
  amount: "int8",
  note: "jsonb?",
  data: "bytea",
  day: "date",
  yes: "boolean"
})

/** Sets of rows, whose types the server infers from the casts of arrays. */
const sets = SqlClient.SqlClient.use((sql) =>
  Rows.decodeAll(Row)(sql`
    SELECT id, at, amount, note, data, day::text AS day, yes FROM ${Rows.table("row", rows, columns)} ORDER BY id
  `)
).pipe(Effect.map((rows) => rows.map((row) => ({ ...row, data: Uint8Array.from(row.data) }))))
