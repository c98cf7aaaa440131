import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

it.effect("the first example of the README prints what it shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* Example.printed(() => import("../example/memory.ts")), "sold out [ 1, 0 ]")
  }))

it.effect("the README shows the examples as they run", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    assert.include(readme, yield* read("../example/memory.ts"))
    assert.include(readme, yield* read("../example/postgres.ts"))
    assert.include(readme, yield* read("../example/drivers.ts"))
  }))
