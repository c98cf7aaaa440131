import { assert, it, vi } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

it.live("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL("../example/postgres.ts", import.meta.url), environment)
    assert.strictEqual(printed, "dawn")
  }))

it.live("the example without Effect prints what it shows", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL("../example/promise.ts", import.meta.url), environment)
    assert.strictEqual(printed, "[ { result: 'dawn is rendered' } ]\n[]")
  }))

it.live("the example in a schema prints what it shows", () =>
  Effect.gen(function*() {
    vi.stubEnv("DATABASE_URL", yield* TestDatabase.postgresUrl)
    const printed = yield* Example.printed(() => import("../example/schema.ts"))
    assert.strictEqual(printed, "queued\npending")
  }).pipe(Effect.ensuring(Effect.sync(() => vi.unstubAllEnvs()))))

it.live("the example with two processes prints what it shows", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL("../example/processes.ts", import.meta.url), environment)
    assert.strictEqual(printed, "{ scene: 'dawn' }")
  }))
