import { assert, it, layer } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Fiber, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabase, TestTime } from "../src/index.ts"

/** Statements that follow each other, with handovers between fibers. */
const work = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (let count = 0; count < 5; count++) {
    yield* sql.withTransaction(sql`SELECT pg_sleep(0.01)`)
    yield* Fiber.join(yield* Effect.forkChild(Effect.yieldNow))
  }
})

for (const [name, database] of TestDatabase.all) {
  layer(database)(`TestTime (${name})`, (it) => {
    it.effect("passes only while no fiber works on the database", () =>
      Effect.gen(function*() {
        const worker = yield* Effect.forkChild(
          Effect.timeoutOption(work, "1 second").pipe(Effect.delay("1500 millis"))
        )
        yield* TestTime.pass("3 seconds")
        assert.isTrue(Option.isSome(yield* Fiber.join(worker)))
      }))

    it.effect("rests after the last statement of other fibers", () =>
      Effect.gen(function*() {
        const workers = yield* Effect.forEach(
          [work, work],
          (work) => Effect.forkChild(work, { startImmediately: true })
        )
        yield* TestTime.rest
        for (const worker of workers) assert.isDefined(worker.pollUnsafe())
      }))
  })
}

// A statement of PGlite blocks this process.
layer(TestDatabase.postgres)("TestTime (blocked)", (it) => {
  it.effect("dies if a statement does not end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const worker = yield* Effect.forkChild(sql`SELECT pg_sleep(0.2)`, { startImmediately: true })
      const exit = yield* Effect.exit(TestTime.restWithin("1 millis"))
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("1 statements are in flight"))
      yield* Fiber.join(worker)
      yield* TestTime.rest
    }))
})

it.effect("moves the clock in steps without a database", () =>
  Effect.gen(function*() {
    const times: Array<number> = []
    const note = Effect.map(Clock.currentTimeMillis, (now) => times.push(now))
    yield* Effect.forkChild(Effect.repeat(note, Schedule.spaced("1 second")))
    yield* TestTime.until(Effect.sync(() => times.length === 3))
    yield* TestTime.pass("1500 millis")
    assert.deepStrictEqual(times, [0, 1_000, 2_000, 3_000])
    assert.strictEqual(yield* Clock.currentTimeMillis, 3_500)
  }))
