import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as EarlyRequests from "../src/internal/earlyRequests.ts"

const startServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer()
    const arrived = once(server, "request")
    EarlyRequests.hold(server)
    await once(server.listen(0, "127.0.0.1"), "listening")
    // A server that listens on TCP has such an address.
    const { port } = server.address() as AddressInfo
    return { server, arrived, url: `http://127.0.0.1:${port}` }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
)

it.live("responds to a request that arrived before the routes, and to later ones once", () =>
  Effect.gen(function*() {
    const { arrived, server, url } = yield* startServer
    const calls: Array<string> = []
    yield* Effect.promise(async () => {
      const early = fetch(`${url}/early`)
      await arrived
      server.on("request", ({ url = "" }: IncomingMessage, response: ServerResponse) => {
        calls.push(url)
        response.end()
      })
      assert.strictEqual((await early).status, 200)
      assert.strictEqual((await fetch(`${url}/late`)).status, 200)
    })
    assert.deepStrictEqual(calls, ["/early", "/late"])
  }).pipe(Effect.scoped))
