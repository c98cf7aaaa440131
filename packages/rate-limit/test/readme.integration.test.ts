import { assert, it } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Clock, Effect } from "effect"

const currentMinute = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 60_000))

it.live("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const run = Effect.gen(function*() {
      const began = yield* currentMinute
      const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
      const printed = yield* Example.run(new URL("../example/postgres.ts", import.meta.url), environment)
      return { printed, isWithinMinute: began === (yield* currentMinute) }
    })
    // The limit starts anew with each minute, so a run in which a minute ends shows nothing.
    const { printed } = yield* Effect.repeat(run, { until: ({ isWithinMinute }) => isWithinMinute })
    assert.strictEqual(printed, "true 1\ntrue 0\nfalse 0")
  }))
