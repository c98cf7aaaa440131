import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect } from "node:net"
import { text } from "node:stream/consumers"
import * as NodeServer from "../src/internal/nodeServer.ts"

/** Starts a server that looks for late requests all the time, and opens a connection to it. */
const startServer = (times: Partial<typeof NodeServer.times> = {}) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { endConnections, server } = NodeServer.make({ ...NodeServer.times, header: 1, check: 1, ...times })
      server.on("request", (_request, response) => response.end("done"))
      await once(server.listen(0, "127.0.0.1"), "listening")
      const late = once(server, "clientError")
      // A server that listens on TCP has such an address.
      const { port } = server.address() as AddressInfo
      return { server, endConnections, late, client: connect(port, "127.0.0.1") }
    }),
    ({ endConnections, server }) => Effect.andThen(endConnections, Effect.sync(() => server.close()))
  )

it.live("responds to the first request of a connection that was opened long before", () =>
  Effect.gen(function*() {
    const { client, late } = yield* startServer()
    yield* Effect.promise(async () => {
      await late
      client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      assert.match(await text(client), /^HTTP\/1\.1 200 OK\r\n/)
    })
  }).pipe(Effect.scoped))

it.live("closes a connection on which no request begins, without a response", () =>
  Effect.gen(function*() {
    const { client } = yield* startServer({ idle: 1 })
    assert.strictEqual(yield* Effect.promise(() => text(client)), "")
  }).pipe(Effect.scoped))

it.live("closes a connection on which only line breaks arrive late, and no request", () =>
  Effect.gen(function*() {
    const { client, late } = yield* startServer({ idle: 1_000 })
    yield* Effect.promise(async () => {
      await late
      client.write("\r\n")
      assert.strictEqual(await text(client), "")
    })
  }).pipe(Effect.scoped))

it.live("responds 408 to a request whose header does not arrive in time", () =>
  Effect.gen(function*() {
    const { client } = yield* startServer()
    yield* Effect.promise(async () => {
      client.write("GET / HTTP/1.1\r\nHost:")
      const answer = await text(client)
      assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/)
      assert.include(answer, "{\"error\":{\"code\":\"request_timeout\",")
    })
  }).pipe(Effect.scoped))
