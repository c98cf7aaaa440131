import { assert, it, vi } from "@effect/vitest"
import { readFile } from "node:fs/promises"

it("prints what the first example of the README prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [["order-1 is placed"], ["replay of order-1"]])
  log.mockRestore()
})

it("shows the examples in the README", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (const example of ["memory", "postgres", "promise", "schema"]) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
})
