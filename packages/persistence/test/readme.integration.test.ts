import { afterEach, assert, it, vi } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

afterEach(() => {
  vi.unstubAllEnvs()
})

it.effect("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    vi.stubEnv("DATABASE_URL", yield* TestDatabase.postgresUrl)
    assert.strictEqual(
      yield* Example.printed(() => import("../example/postgres.ts")),
      "order-1 is committed\nsold out [ { id: 'order-1' } ]"
    )
  }))
