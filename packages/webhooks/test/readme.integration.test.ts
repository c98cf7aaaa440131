import { assert, it } from "@effect/vitest"
import { vi } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

it.effect("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    vi.stubEnv("DATABASE_URL", yield* TestDatabase.postgresUrl)
    assert.strictEqual(
      yield* Example.printed(() => import("../example/postgres.ts")),
      "parcel.shipped { parcel: 'P-1' }"
    )
  }).pipe(Effect.ensuring(Effect.sync(() => vi.unstubAllEnvs()))))
