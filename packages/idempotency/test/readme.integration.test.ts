import { assert, it, vi } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

it.live("prints what the README's example prints on Postgres", () =>
  Effect.gen(function*() {
    vi.stubEnv("DATABASE_URL", yield* TestDatabase.postgresUrl)
    const log = vi.spyOn(console, "log").mockReturnValue()
    yield* Effect.promise(() => import("../example/postgres.ts"))
    assert.deepStrictEqual(log.mock.calls, [
      [true],
      ["The idempotency key belongs to a request with another body"]
    ])
    log.mockRestore()
    vi.unstubAllEnvs()
  }))
