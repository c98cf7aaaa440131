import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { example } from "../example/downloads.ts"

it.effect("the README's example runs", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* example, [
      "sent, 2 requests left",
      "429: 600 bytes left today",
      "sent, 0 requests left",
      "429: too many requests"
    ])
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/downloads.ts"))
  }))
