import { assert, it } from "@effect/vitest"
import { Example, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { mkdtempDisposable } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

it.live("the Postgres example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const files = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtempDisposable(join(tmpdir(), "kinora-files-"))),
      (directory) => Effect.promise(() => directory.remove())
    )
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl, FILES: files.path }
    const printed = yield* Example.run(new URL("../example/postgres.ts", import.meta.url), environment)
    assert.strictEqual(
      printed,
      "200 {\"status\":\"ready\"}\n"
        + "401 {\"error\":{\"code\":\"unauthorized\",\"message\":\"A valid API key is required; "
        + "send the header Authorization: Bearer <key>.\",\"plan\":null,\"details\":{}}}"
    )
  }))
