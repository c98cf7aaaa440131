import { readFile } from "node:fs/promises"
import { expect, it } from "vitest"

// Each example is a test, which importing it registers.
await import("../example/effect.ts")
await import("../example/job.ts")
await import("../example/models.ts")
await import("../example/webhook.ts")

const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")

it.each(["effect", "job", "models", "webhook"])("shows the example %s in the README", async (name) => {
  expect(await read("../README.md")).toContain(await read(`../example/${name}.ts`))
})
