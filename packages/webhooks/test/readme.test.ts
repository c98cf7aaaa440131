import { assert, it } from "@effect/vitest"
import { Example } from "@kinora/testkit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import * as Public from "../src/index.ts"

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

it.effect("the README lists every public name", () =>
  Effect.gen(function*() {
    const [, api = ""] = (yield* read("../README.md")).split("## API")
    const rows = api.split("\n")
    for (const [module, names] of Object.entries(Public)) {
      const row = rows.find((row) => row.startsWith(`| \`${module}\` `)) ?? ""
      for (const name of Object.keys(names)) assert.include(row, `\`${name}\``, `${module}.${name}`)
    }
  }))
