import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

it.live("the example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const lines = yield* Example.printed(() => import("../example/memory.ts"))
    assert.strictEqual(lines, "image/webp 1344 768 true")
  }))

it.live("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/memory.ts"))
  }))
