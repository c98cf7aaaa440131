import { assert, it, vi } from "@effect/vitest"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import type { AddressInfo } from "node:net"

it("prints what the first example of the README prints", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue()
  await import("../example/memory.ts")
  assert.deepStrictEqual(log.mock.calls, [["order-1 is placed"], ["replay of order-1"]])
  log.mockRestore()
})

it("places one order per key in the README's examples for Express, Fastify and Hono", async () => {
  const [onExpress, onFastify, onHono] = await Promise.all([
    import("../example/express.ts"),
    import("../example/fastify.ts"),
    import("../example/hono.ts")
  ])
  const server = onExpress.app.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const request = { method: "POST", headers: { "idempotency-key": "k-1", "x-account": "ada" } } as const
  const requests = [
    async () => (await fetch(`http://127.0.0.1:${port}/orders`, request)).text(),
    async () => (await onFastify.app.inject({ ...request, url: "/orders" })).body,
    async () => (await onHono.app.request("/orders", request)).text()
  ]
  for (const send of requests) {
    const first = await send()
    assert.match(first, /^\{"id":"[0-9a-f-]{36}"\}$/)
    assert.strictEqual(await send(), first)
  }
  server.close()
  await onFastify.app.close()
})

it("shows the examples in the README", async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8")
  const readme = await read("../README.md")
  for (const example of ["memory", "postgres", "promise", "express", "fastify", "hono", "transaction", "schema"]) {
    assert.include(readme, await read(`../example/${example}.ts`))
  }
  assert.include(readme, await read("./contract.test.ts"))
})
