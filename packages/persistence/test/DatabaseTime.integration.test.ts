import { assert, layer } from "@effect/vitest"
import { SkewedClock, TestDatabase } from "@kinora/testkit"
import { Clock, DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as DatabaseTime from "../src/DatabaseTime.ts"

/** The time that statements see, in Unix milliseconds, as a statement of its own. */
const seen = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* DatabaseTime.now
  const [row] = yield* sql<{ readonly millis: number }>`SELECT (extract(epoch FROM ${now}) * 1000)::float8 AS millis`
  return row!.millis
})

const onHost = (millis: number) => SkewedClock.onHost(DatabaseTime.DatabaseClock, millis)

const onSystemClock = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

for (const [name, database] of TestDatabase.all) {
  layer(database)(`DatabaseTime (${name})`, (it) => {
    it.effect("is an expression of the database under the clock of the system", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const now = yield* DatabaseTime.now
        assert.deepStrictEqual(sql`SELECT ${now}`.compile(), ["SELECT statement_timestamp()", []])
        const first = yield* seen
        yield* sql`SELECT pg_sleep(0.02)`
        assert.isAtLeast((yield* seen) - first, 20)
      }).pipe(onSystemClock))

    it.effect("is the time of a virtual clock", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2040, 0, 1))
        assert.strictEqual(yield* seen, Date.UTC(2040, 0, 1))
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* seen, Date.UTC(2040, 0, 1, 0, 1))
        assert.deepStrictEqual(yield* DatabaseTime.inMemory, DateTime.makeUnsafe(yield* seen))
      }))

    it.effect("is shifted by durations", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const now = yield* DatabaseTime.now
        const rows = yield* sql<{ readonly seconds: number }>`
          SELECT extract(epoch FROM time - ${now})::float8 AS seconds
          FROM (VALUES
            (${DatabaseTime.after(now, "90 seconds")}),
            (${DatabaseTime.before(now, "1500 millis")}),
            (${DatabaseTime.after(DatabaseTime.before(now, "2 seconds"), "0.5 millis")})
          ) AS shifted (time)
        `
        assert.deepStrictEqual(rows.map(({ seconds }) => seconds), [90, -1.5, -1.9995])
      }))

    it.effect("is the time of the clock that represents the database's, whatever the clock of the host", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2040, 0, 1))
        const observed = yield* onHost(120_000)(Effect.all([seen, DatabaseTime.inMemory]))
        assert.deepStrictEqual(observed, [Date.UTC(2040, 0, 1), DateTime.makeUnsafe("2040-01-01T00:00:00Z")])
      }))

    it.effect("converts times between the clocks of the host and the database", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.UTC(2040, 0, 1))
        const sql = yield* SqlClient.SqlClient
        const convert = Effect.gen(function*() {
          const clock = yield* DatabaseTime.hostClock
          const soon = DateTime.add(yield* DateTime.now, { seconds: 5 })
          const [row] = yield* sql<{ readonly stored: Date; readonly back: Date; readonly none: null }>`
            SELECT stored, ${clock.toHost(sql`stored`)} AS back, ${clock.toHost(sql`NULL::timestamptz`)} AS none
            FROM (VALUES (${clock.toDatabase(soon)})) AS converted (stored)
          `
          return [
            row!.stored.getTime(),
            row!.back.getTime() - soon.epochMilliseconds,
            row!.none,
            clock.millisUntil(soon)
          ]
        })
        for (const millis of [-120_000, 0, 120_000]) {
          const converted = yield* onHost(millis)(convert)
          assert.deepStrictEqual(converted, [Date.UTC(2040, 0, 1) + 5_000, 0, null, 5_000])
        }
      }))

    it.effect("measures how far the host is ahead", () =>
      Effect.gen(function*() {
        const measured = yield* onHost(120_000)(DatabaseTime.measureSkew())
        assert.deepStrictEqual(measured, { aheadMillis: 120_000, roundTripMillis: 0 })
        // The database of the test runs on this machine.
        const { aheadMillis, roundTripMillis } = yield* onSystemClock(DatabaseTime.measureSkew())
        assert.isAtMost(Math.abs(aheadMillis), roundTripMillis + 2)
      }))
  })
}
