import { assert, it, vi } from "@effect/vitest"
import { Limits } from "@kinora/rate-limit"
import { Effect } from "effect"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import type { AddressInfo } from "node:net"
import { download } from "../example/downloads.ts"

it("prints what the first example of the README prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [[true, 1], [true, 0], [false, 0]])
  log.mockRestore()
})

it("prints what the example of windows shows", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  // A window that ends meanwhile begins anew.
  vi.useFakeTimers({ now: 1_790_000_000_000, toFake: ["Date"] })
  await import("../example/windows.ts")
  assert.deepStrictEqual(log.mock.calls, [
    ["fixed", true],
    ["fixed", true],
    ["fixed", false],
    ["sliding", 1],
    ["bucket", 10_000]
  ])
  vi.useRealTimers()
  log.mockRestore()
})

it("prints what the example of erasure shows", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/forget.ts")
  assert.deepStrictEqual(log.mock.calls, [[1], [1], [0]])
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

it("limits requests in the README's examples for Express, Fastify and Hono", async () => {
  const [onExpress, onFastify, onHono] = await Promise.all([
    import("../example/express.ts"),
    import("../example/fastify.ts"),
    import("../example/hono.ts")
  ])
  const server = onExpress.app.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const requests = [
    async () => (await fetch(`http://127.0.0.1:${port}/`)).status,
    async () => (await onFastify.app.inject("/")).statusCode,
    async () => (await onHono.app.request("/")).status
  ]
  for (const request of requests) {
    const statuses: Array<number> = []
    // A minute that ends meanwhile starts the limit anew, at most once.
    for (let n = 0; n < 5; n++) statuses.push(await request())
    assert.deepStrictEqual(statuses.slice(0, 2), [200, 200])
    assert.include(statuses, 429)
  }
  server.close()
  await onFastify.app.close()
})

it("shows the examples in the README", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (
    const example of [
      "memory",
      "postgres",
      "downloads",
      "windows",
      "forget",
      "promise",
      "express",
      "fastify",
      "hono",
      "schema",
      "redis"
    ]
  ) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
  assert.include(readme, await read("./contract.test.ts"))
})
