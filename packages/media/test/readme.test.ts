import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

it.effect("the example of the README prints what it shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(
      yield* Example.printed(() => import("../example/memory.ts")),
      "image/png 1 1 image/webp\n"
        + "The image is truncated or damaged. Send the complete file, or save the image again."
    )
  }))

it.live("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/memory.ts"))
  }))
