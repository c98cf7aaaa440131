import { assert, it, vi } from "@effect/vitest"
import { readFile } from "node:fs/promises"

it("prints what the first example of the README prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [["ada", true, false], [true]])
  log.mockRestore()
})

it("accepts requests by their key, as the README's example for Hono does", async () => {
  const { app, keys } = await import("../example/hono.ts")
  const { key } = await keys.create({ owner: "ada", name: "laptop", scopes: ["read"] })
  const send = (method: string, authorization: string) => app.request("/orders", { method, headers: { authorization } })
  assert.strictEqual((await send("GET", "")).status, 401)
  assert.strictEqual((await send("GET", `Bearer ${key}x`)).status, 401)
  assert.deepStrictEqual(await (await send("GET", `Bearer ${key}`)).json(), { ordersOf: "ada" })
  assert.strictEqual((await send("POST", `Bearer ${key}`)).status, 403)
  await keys.close()
})

it("shows the examples in the README", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (const example of ["memory", "postgres", "promise", "hono", "schema"]) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
})
