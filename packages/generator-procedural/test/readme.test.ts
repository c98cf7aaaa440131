import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import sharp from "sharp"
import { paint } from "../example/picture.ts"

it.live("the README's example runs", () =>
  Effect.gen(function*() {
    const file = yield* paint("misty mountains at sunset")
    const facts = yield* Effect.promise(() => sharp(file).metadata())
    assert.deepInclude(facts, { format: "webp", width: 1344, height: 768 })
  }))

it.live("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/picture.ts"))
  }))
