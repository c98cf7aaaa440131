import { assert, it, vi } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

it.live("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL("../example/postgres.ts", import.meta.url), environment)
    assert.strictEqual(printed, "960\n1000")
  }))

it.live("the example without Effect prints what it shows", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL("../example/promise.ts", import.meta.url), environment)
    assert.strictEqual(printed, "10\n40 10\n[ { id: 'job-1' } ]")
  }))

it.live("the example in a schema prints what it shows", () =>
  Effect.gen(function*() {
    vi.stubEnv("DATABASE_URL", yield* TestDatabase.postgresUrl)
    const printed = yield* Example.printed(() => import("../example/schema.ts"))
    assert.strictEqual(printed, "50")
  }).pipe(Effect.ensuring(Effect.sync(() => vi.unstubAllEnvs()))))
