import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))

it.effect("the first example of the README prints what it shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* Example.printed(() => import("../example/memory.ts")), "parcel.shipped")
  }))

it.effect("the example of Standard Webhooks prints what it shows", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* Example.printed(() => import("../example/standard.ts")), "dlv_ parcel.shipped")
  }))

it.effect("the README shows the examples as they run", () =>
  Effect.gen(function*() {
    const readme = yield* read("../README.md")
    for (const example of ["memory", "postgres", "promise", "standard", "schema"]) {
      assert.include(readme, yield* read(`../example/${example}.ts`))
    }
    assert.include(readme, yield* read("./contract.test.ts"))
  }))
