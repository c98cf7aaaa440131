/** Pipelined units of random steps, which are applied whole or not at all. */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Pipelining from "../src/Pipelining.ts"
import { database, makeCells, over, Refused } from "./PipelinedCells.ts"

/** Steps after which a unit continues. Those of writes have a key each. */
const steady = [
  "read",
  "write",
  "deferred write",
  "two reads",
  "a read and a deferred write",
  "an interrupted read",
  "an interrupted write",
  "a savepoint that is undone",
  "a savepoint with a deferred write"
] as const

/** Steps after which a unit fails, at the latest when it commits. */
const fatal = ["a deferred write that fails", "a deferred write that cannot be sent", "a failure"] as const

const Step = Schema.Literals([...steady, ...steady, ...fatal])

const Program = Schema.Struct({
  steps: Schema.Array(Step).check(Schema.isMaxLength(8)),
  begins: Schema.Boolean
})

layer(over(database))("pipelined units", (it) => {
  it.effect.prop(
    "a unit of random steps is applied whole or not at all",
    [Program],
    ([{ begins, steps }]) =>
      Effect.gen(function*() {
        const { insert, keys, sql, write, writeAtCommit } = yield* makeCells
        yield* sql`DELETE FROM cells`
        const written: Array<string> = []
        const read = sql`SELECT 1`
        const keyed = <A, E>(make: (key: string) => Effect.Effect<A, E>) =>
          Effect.suspend(() => {
            const key = `k${written.length}`
            written.push(key)
            return make(key)
          })
        const interrupted = <E>(effect: Effect.Effect<unknown, E>) =>
          Effect.flatMap(Effect.forkChild(effect, { startImmediately: true }), Fiber.interrupt)
        const run = (step: typeof Step.Type): Effect.Effect<unknown, unknown> => {
          switch (step) {
            case "read":
              return read
            case "write":
              return keyed((key) => write(key, 1))
            case "deferred write":
              return keyed((key) => writeAtCommit(key, 1))
            case "two reads":
              return Pipelining.both(read, read)
            case "a read and a deferred write":
              return Pipelining.both(read, keyed((key) => writeAtCommit(key, 1)))
            case "an interrupted read":
              return interrupted(read)
            case "an interrupted write":
              // Whether it has reached the server is unknown, so it writes no row.
              return interrupted(sql`UPDATE cells SET value = value + 1`)
            case "a savepoint that is undone":
              return Effect.flip(sql.withTransaction(Effect.andThen(writeAtCommit("undone", 1), new Refused())))
            case "a savepoint with a deferred write":
              return sql.withTransaction(keyed((key) => writeAtCommit(key, 1)))
            case "a deferred write that fails":
              return writeAtCommit("wrong", "no number")
            case "a deferred write that cannot be sent":
              return writeAtCommit("unsent", Symbol("no parameter"))
            case "a failure":
              return new Refused()
          }
        }
        const statement = begins ? "BEGIN" : "BEGIN ISOLATION LEVEL WRONG"
        const exit = yield* Effect.exit(
          Effect.provideService(
            sql.withTransaction(Effect.forEach(steps, run, { discard: true })),
            SqlClient.BeginTransaction,
            statement
          )
        )
        const mustFail = steps.some((step) => fatal.some((one) => one === step)) || (!begins && steps.length > 0)
        assert.strictEqual(Exit.isFailure(exit), mustFail)
        assert.deepStrictEqual(yield* keys, mustFail ? [] : written)
        // The connection serves the next unit.
        yield* sql.withTransaction(insert("next", 1))
        assert.include(yield* keys, "next")
      })
  )
})
