import { assert, it } from "@effect/vitest"
import { ReadmeServer, TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"

it.live("the commands of the README print what it shows, and the process ends when it is asked to", () =>
  Effect.gen(function*() {
    const environment = { DATABASE_URL: yield* TestDatabase.postgresUrl }
    const readme = new URL("../README.md", import.meta.url)
    const main = new URL("../src/main.ts", import.meta.url)
    const { exchanges, exitCode } = yield* Effect.promise(() => ReadmeServer.run({ readme, main, environment }))
    assert.deepStrictEqual(exchanges.map(({ body }) => body), exchanges.map(({ shown }) => shown))
    assert.strictEqual(exchanges.length, 10)
    assert.strictEqual(exitCode, 0)
  }))
