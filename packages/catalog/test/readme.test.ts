import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { readFile } from "node:fs/promises"
import { quotes } from "../example/price.ts"

it.effect("the README's example runs", () =>
  Effect.gen(function*() {
    const [good, bad] = yield* quotes
    assert.deepStrictEqual(Result.getOrThrow(good), {
      kind: "image",
      mode: "text_to_image",
      prompt: "a lighthouse",
      params: { aspect_ratio: "1:1", resolution: "2k" },
      credits: 9
    })
    assert.deepStrictEqual(Result.getOrThrow(Result.flip(bad)), [
      { path: ["prompt"], message: "must not be empty" },
      { path: ["resolution"], message: "must be one of 1k, 2k" }
    ])
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/price.ts"))
  }))
