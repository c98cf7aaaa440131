import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { example } from "../example/renders.ts"

it.effect("the README's example runs", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* example, {
      states: ["queued", "pending", "pending"],
      refused: "The queue of ada is full: 2 of 2 jobs wait",
      results: ["dawn is rendered", "noon is rendered", "dusk is rendered"]
    })
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/renders.ts"))
  }))
