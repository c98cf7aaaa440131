import { readFile } from "node:fs/promises"
import { format } from "node:util"
import { expect, it, vi } from "vitest"

// These examples are tests, which importing them registers.
await import("../example/effect.ts")
await import("../example/job.ts")
await import("../example/models.ts")
await import("../example/webhook.ts")

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")

it("prints the lines at the end of the README's first example", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  const printed = log.mock.calls.map((values) => `// ${format(...values)}\n`).join("")
  log.mockRestore()
  expect(printed).not.toBe("")
  expect((await read("../example/memory.ts")).endsWith(printed)).toBe(true)
})

it.each(["memory", "effect", "job", "models", "webhook"])("shows the example %s in the README", async (name) => {
  expect(await read("../README.md")).toContain(await read(`../example/${name}.ts`))
})
