import { assert, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

it.live("the example of the README prints what it shows", () =>
  Effect.gen(function*() {
    const log = vi.spyOn(console, "log").mockImplementation(() => {})
    yield* Effect.promise(() => import("../example/memory.ts"))
    assert.deepStrictEqual(log.mock.calls, [[[{ id: 1, text: "milk" }, { id: 2, text: "bread" }]]])
    log.mockRestore()
  }))

it.live("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/memory.ts"))
  }))
