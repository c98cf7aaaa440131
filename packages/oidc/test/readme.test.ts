import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))

it.live("the example of the README prints what it shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* Example.printed(() => import("../example/memory.ts")), "Example ID /authorize S256")
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    assert.include(yield* read("../README.md"), yield* read("../example/memory.ts"))
  }))
