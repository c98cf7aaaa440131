import { assert, it, vi } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

it.live("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL("../example/postgres.ts", import.meta.url), environment)
    assert.strictEqual(printed, "true 2")
  }))

it.live("the example without Effect prints what it shows", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const printed = yield* Example.run(new URL("../example/promise.ts", import.meta.url), environment)
    assert.strictEqual(printed, "ada [ 'read' ]\ntoo_many_keys\n1 undefined")
  }))

it.live("the example in a schema prints what it shows", () =>
  Effect.gen(function*() {
    vi.stubEnv("DATABASE_URL", yield* TestDatabase.postgresUrl)
    const printed = yield* Example.printed(() => import("../example/schema.ts"))
    assert.strictEqual(printed, "laptop")
  }).pipe(Effect.ensuring(Effect.sync(() => vi.unstubAllEnvs()))))
