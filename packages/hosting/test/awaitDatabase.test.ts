import { assert, it } from "@effect/vitest"
import * as StorageError from "@kinora/persistence/StorageError"
import { Duration, Effect, Fiber, Logger } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { ClockSkewed } from "../src/ClockCheck.ts"
import { DatabaseLost, DatabaseUnavailable } from "../src/Database.ts"
import { awaitDatabase } from "../src/internal/database/awaitDatabase.ts"

const refused = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("connect ECONNREFUSED") })
})
const wrongPassword = new SqlError.SqlError({
  reason: new SqlError.AuthenticationError({ cause: new Error("password authentication failed") })
})
const storageError = StorageError.fromSql("AccountStore.findOwners", refused)

/** A start that fails with each of these errors, then succeeds. Returns the number of attempts and the logged messages. */
const startAfter = (...failures: ReadonlyArray<Effect.Effect<never, Error>>) => {
  const seen = { attempts: 0, messages: [] as Array<unknown> }
  const start = Effect.suspend(() => failures[seen.attempts++] ?? Effect.succeed("started"))
  const logger = Logger.make(({ message }) => void seen.messages.push(message))
  const run = (wait: Duration.Input) =>
    Effect.provide(awaitDatabase(Duration.fromInputUnsafe(wait))(start), Logger.layer([logger]))
  return { seen, run }
}

const unavailable = Effect.fail(new DatabaseUnavailable({ cause: refused }))

it.effect("repeats a start each second while the database is unavailable, and logs the reason", () =>
  Effect.gen(function*() {
    const { run, seen } = startAfter(
      unavailable,
      Effect.fail(new DatabaseLost({ cause: storageError })),
      Effect.fail(storageError),
      Effect.die(refused)
    )
    const starting = yield* Effect.forkChild(run("1 minute"), { startImmediately: true })
    for (let attempts = 1; attempts < 5; attempts++) {
      assert.strictEqual(seen.attempts, attempts)
      yield* TestClock.adjust("1 second")
    }
    assert.strictEqual(yield* Fiber.join(starting), "started")
    assert.deepStrictEqual(seen.messages[0], [
      "The database does not respond (ConnectionError). Check KINORA_DATABASE_URL. The start is repeated for 60 s"
    ])
    assert.lengthOf(seen.messages, 4)
  }))

it.effect("fails with the last reason once the time is over", () =>
  Effect.gen(function*() {
    const { run, seen } = startAfter(...Array.from({ length: 10 }, () => unavailable))
    const starting = yield* Effect.forkChild(Effect.flip(run("2.5 seconds")), { startImmediately: true })
    yield* TestClock.adjust("2.5 seconds")
    assert.instanceOf(yield* Fiber.join(starting), DatabaseUnavailable)
    assert.strictEqual(seen.attempts, 4)
  }))

it.effect("fails at once if the time is zero, or if a later attempt would fail again", () =>
  Effect.gen(function*() {
    const other = [
      [0, unavailable],
      ["1 minute", Effect.fail(new DatabaseUnavailable({ cause: wrongPassword }))],
      ["1 minute", Effect.fail(new ClockSkewed({ aheadMillis: 3_000, maxMillis: 2_000 }))]
    ] as const
    for (const [wait, failure] of other) {
      const { run, seen } = startAfter(failure)
      yield* Effect.flip(run(wait))
      assert.deepStrictEqual(seen, { attempts: 1, messages: [] })
    }
  }))
