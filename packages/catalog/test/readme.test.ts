import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

it.effect("the example of the README prints what it shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(
      yield* Example.printed(() => import("../example/memory.ts")),
      "text_to_image { aspect_ratio: '1:1', resolution: '2k' } 9\n"
        + "[ 'prompt must not be empty', 'resolution must be one of 1k, 2k' ]"
    )
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/memory.ts"))
  }))
