import { assert, it, vi } from "@effect/vitest"
import { Limits } from "@kinora/rate-limit"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { download } from "../example/downloads.ts"

it("prints what the first example of the README prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [[true, 1], [true, 0], [false, 0]])
  log.mockRestore()
})

it.effect("limits downloads as the README's example does", () =>
  Effect.gen(function*() {
    const results = yield* Effect.forEach([800, 800, 400, 100], (bytes) => download("ada", bytes))
    assert.deepStrictEqual(results, [
      "sent, 2 requests left",
      "429: 600 bytes left today",
      "sent, 0 requests left",
      "429: too many requests"
    ])
  }).pipe(Effect.provide(Limits.layerMemory)))

it("shows the examples in the README", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (const example of ["memory", "postgres", "downloads", "promise", "schema"]) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
})
