import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Output from "../src/Output.ts"

it.effect("aligns columns by the width of their characters, and numbers at their ends", () =>
  Effect.sync(() => {
    const rows = [{ name: "水 水", count: 7 }, { name: "lake", count: 1200 }, { name: "", count: 0 }]
    const table = Output.table(rows, [
      { title: "NAME", value: ({ name }) => name },
      { title: "COUNT", value: ({ count }) => count, isNumber: true }
    ], "Nothing.")
    assert.deepStrictEqual(table.split("\n"), ["NAME   COUNT", "水 水      7", "lake    1200", "           0"])
    assert.strictEqual(Output.table([], [], "Nothing."), "Nothing.")
  }))

it.effect("prints no control characters of the service", () =>
  Effect.sync(() => {
    assert.strictEqual(Output.properties([["name", "a\u{1b}[31m\n\u{202e}b"]]), "name  a�[31m��b")
  }))
