import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { example } from "../example/order.ts"

it.effect("the README's example runs", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* example, {
      first: { id: "order-1", replayed: false },
      again: { id: "order-1", replayed: true },
      refusal: "KeyReused",
      orders: 1
    })
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/order.ts"))
  }))
