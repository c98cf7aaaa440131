import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { example, layerMemory } from "../example/orders.ts"

it.effect("the README's example runs", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* example, { outcomes: ["no address", "ordered", "sold out"], orders: 1 })
  }).pipe(Effect.provide(layerMemory)))

it.effect("the README shows the examples as they run", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    assert.include(readme, yield* read("../example/orders.ts"))
    assert.include(readme, yield* read("../example/sql.ts"))
  }))
