import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

it.live("the example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const lines = yield* Example.printed(() => import("../example/memory.ts"))
    assert.strictEqual(lines, "Succeeded image/png 1000")
  }))

it.live("the README shows the examples as they run", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    assert.include(readme, yield* read("../example/memory.ts"))
    assert.include(readme, yield* read("../example/weave.ts"))
    assert.include(readme, (yield* read("./weave.test.ts")).replace("../example/", "./"))
  }))
