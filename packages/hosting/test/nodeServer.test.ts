import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger, Metric, Queue } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type AddressInfo, connect, createServer, type Server, Socket } from "node:net"
import { text } from "node:stream/consumers"
import * as AddressConnections from "../src/internal/addressConnections.ts"
import * as NodeServer from "../src/internal/nodeServer.ts"
import * as RejectedConnections from "../src/internal/rejectedConnections.ts"

const respond = (_request: IncomingMessage, response: ServerResponse) => response.end("done")

/** Starts a server. `connect` opens a connection to it. */
const listen = (options: NodeServer.NodeServerOptions) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const { endConnections, server } = NodeServer.make(options)
      server.on("request", respond)
      await once(server.listen(0, "127.0.0.1"), "listening")
      // A server that listens on TCP has such an address.
      const { port } = server.address() as AddressInfo
      return {
        server,
        endConnections,
        connect: (localAddress?: string) => connect({ port, host: "127.0.0.1", localAddress })
      }
    }),
    ({ endConnections, server }) => Effect.andThen(endConnections, Effect.sync(() => server.close()))
  )

/** Starts a server that looks for late requests all the time, and opens a connection to it. */
const startServer = (times: Partial<typeof NodeServer.times> = {}) =>
  Effect.map(
    listen({
      connectionsMax: NodeServer.connectionsMax.clients,
      times: { ...NodeServer.times, header: 1, check: 1, ...times }
    }),
    ({ connect, server }) => ({ late: once(server, "clientError"), client: connect() })
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

/** A server whose responses end when the test ends them. Opens a connection, and sends requests with these methods together. */
const sendTogether = Effect.fnUntraced(function*(
  methods: ReadonlyArray<string>,
  receiving?: NodeServer.NodeServerOptions["receiving"]
) {
  const { connect, server } = yield* listen({ connectionsMax: NodeServer.connectionsMax.clients, receiving })
  const started = yield* Queue.unbounded<{ readonly path: string; readonly response: ServerResponse }>()
  server.off("request", respond).on("request", ({ url = "" }, response) => {
    Queue.offerUnsafe(started, { path: url, response })
  })
  const socket = connect()
  socket.write(methods.map((method, n) => `${method} /${n} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""))
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
  return { socket, started }
})

it.live("handles the requests of a connection one after the other", () =>
  Effect.gen(function*() {
    const { socket, started } = yield* sendTogether(Array.from({ length: 1 + NodeServer.waitingMax }, () => "GET"))
    const received = text(socket)
    for (let n = 0; n <= NodeServer.waitingMax; n++) {
      const { path, response } = yield* Queue.take(started)
      assert.strictEqual(path, `/${n}`)
      assert.strictEqual(yield* Queue.size(started), 0)
      if (n === NodeServer.waitingMax) response.setHeader("connection", "close")
      response.end(path)
    }
    const bodies = (yield* Effect.promise(() => received)).match(/^\/\d+/gm)
    assert.deepStrictEqual(bodies, Array.from({ length: 1 + NodeServer.waitingMax }, (_, n) => `/${n}`))
  }).pipe(Effect.scoped))

it.live("closes a connection on which too many requests wait, and handles none of them", () =>
  Effect.gen(function*() {
    const { socket, started } = yield* sendTogether(Array.from({ length: 2 + NodeServer.waitingMax }, () => "GET"))
    assert.strictEqual(yield* Effect.promise(() => text(socket)), "")
    const { response } = yield* Queue.take(started)
    assert.isTrue(response.destroyed)
    assert.strictEqual(yield* Queue.size(started), 0)
  }).pipe(Effect.scoped))

it.live("drops the requests that wait behind one whose response ends the connection", () =>
  Effect.gen(function*() {
    const { socket, started } = yield* sendTogether(["GET", "GET"])
    const { response } = yield* Queue.take(started)
    response.setHeader("connection", "close").end("only")
    assert.match(yield* Effect.promise(() => text(socket)), /only$/)
    assert.strictEqual(yield* Queue.size(started), 0)
  }).pipe(Effect.scoped))

it.live("closes a connection with a CONNECT behind another request", () =>
  Effect.gen(function*() {
    const { socket } = yield* sendTogether(["GET"])
    socket.write("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n")
    assert.strictEqual(yield* Effect.promise(() => text(socket)), "")
  }).pipe(Effect.scoped))

it.live("closes a connection on which large heads wait", () =>
  Effect.gen(function*() {
    const { socket, started } = yield* sendTogether(["GET"])
    yield* Queue.take(started)
    const head = `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${"a".repeat(15_000)}\r\n\r\n`
    socket.write(head.repeat(5))
    assert.strictEqual(yield* Effect.promise(() => text(socket)), "")
    assert.strictEqual(yield* Queue.size(started), 0)
  }).pipe(Effect.scoped))

it.live("handles a request to upgrade like others, and the next one on its connection", () =>
  Effect.gen(function*() {
    const { connect } = yield* listen({ connectionsMax: 2 })
    const socket = connect()
    const received = text(socket)
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
    yield* Effect.promise(() => once(socket, "data"))
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert.strictEqual((yield* Effect.promise(() => received)).match(/^done/gm)?.length, 2)
  }).pipe(Effect.scoped))

/** More than the buffers of the system hold. */
const largeBody = Buffer.alloc(32 * 1024 ** 2, "a")

it.live("closes the connection of a client that does not receive its response", () =>
  Effect.gen(function*() {
    const receiving = { ...NodeServer.receiving, rateMin: 1e12, stallMax: Duration.millis(1) }
    const { socket, started } = yield* sendTogether(["GET", "GET"], receiving)
    socket.pause()
    const { response } = yield* Queue.take(started)
    const closed = once(response, "close")
    response.end(largeBody)
    yield* Effect.promise(() => closed)
    assert.isFalse(response.writableFinished)
    // The request behind it is dropped.
    assert.strictEqual(yield* Queue.size(started), 0)
    const failure = once(socket, "error")
    socket.resume()
    assert.propertyVal((yield* Effect.promise(() => failure))[0], "code", "ECONNRESET")
  }).pipe(Effect.scoped))

it.live("gives a client the time that its response takes at the slowest rate", () =>
  Effect.gen(function*() {
    const receiving = { ...NodeServer.receiving, rateMin: 1024, stallMax: Duration.zero }
    const { socket, started } = yield* sendTogether(["GET", "GET"], receiving)
    const { response } = yield* Queue.take(started)
    response.end(largeBody)
    const received = text(socket)
    const { response: next } = yield* Queue.take(started)
    next.setHeader("connection", "close").end("next")
    const all = yield* Effect.promise(() => received)
    assert.strictEqual(all.match(/a{1000}/g)?.length, Math.floor(largeBody.length / 1000))
    assert.match(all, /next$/)
  }).pipe(Effect.scoped))

it.live("closes the oldest response of the address that leaves the most bytes unread", () =>
  Effect.gen(function*() {
    const receiving = { ...NodeServer.receiving, bytesMax: 2.5 * largeBody.length }
    const { connect, server } = yield* listen({ connectionsMax: 9, receiving })
    const responses = yield* Queue.unbounded<ServerResponse>()
    server.off("request", respond).on("request", (_request, response) => {
      Queue.offerUnsafe(responses, response.end(largeBody))
    })
    const leave = Effect.fnUntraced(function*(address: string) {
      const socket = connect(address).on("error", () => {}).pause()
      socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      const response = yield* Queue.take(responses)
      return { response, closed: once(response, "close") }
    })
    const other = yield* leave("127.0.0.2")
    const first = yield* leave("127.0.0.1")
    const second = yield* leave("127.0.0.1")
    yield* Effect.promise(() => first.closed)
    assert.isFalse(second.response.destroyed)
    const third = yield* leave("127.0.0.1")
    yield* Effect.promise(() => second.closed)
    assert.deepStrictEqual([other, third].map(({ response }) => response.destroyed), [false, false])
  }).pipe(Effect.scoped))

/** Resolves when the server has accepted a connection of this client. */
const accepted = async (server: Server, client: Socket) => {
  client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
  const [[socket]] = await Promise.all([once(server, "connection"), once(client, "data")])
  return socket
}

const countOf = (reason: string, count: number) => ({
  attributes: { listener: "clients", reason },
  count,
  incremental: true
})

/** Counts the rejected connections of a server, and collects what its warnings contain. */
const observeRejected = Effect.fnUntraced(function*(options: RejectedConnections.RejectedConnectionsOptions) {
  const warnings = yield* Queue.unbounded<unknown>()
  const logger = Logger.make<unknown, void>(({ message }) => {
    Queue.offerUnsafe(warnings, Array.isArray(message) ? message[1] : message)
  })
  yield* Layer.build(RejectedConnections.layer(options)).pipe(Effect.provide(Logger.layer([logger])))
  const rejected = Effect.map(
    Metric.snapshot,
    (metrics) =>
      metrics.flatMap(({ attributes, id, state }) =>
        id === "kinora_http_connections_rejected_total" ? [{ attributes, ...state }] : []
      )
  )
  return { rejected, warnings }
})

it.effect("closes connections above the maximum, counts them, and logs them once a minute", () =>
  Effect.gen(function*() {
    const warning = { listener: "clients", maximum: 2 }
    const { connect, server } = yield* listen({ connectionsMax: 2 })
    const { rejected, warnings } = yield* observeRejected({ server, listener: "clients" })
    assert.deepStrictEqual(yield* rejected, [countOf("total", 0)])

    yield* Effect.promise(() => accepted(server, connect()))
    const second = connect()
    const socket = yield* Effect.promise(() => accepted(server, second))
    const refuse = Effect.promise(() => text(connect()))
    assert.strictEqual(yield* refuse, "")
    assert.deepStrictEqual(yield* rejected, [countOf("total", 1)])
    assert.deepStrictEqual(yield* Queue.take(warnings), warning)

    assert.strictEqual(yield* refuse, "")
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* rejected, [countOf("total", 2)])
    assert.strictEqual(yield* Queue.size(warnings), 0)
    assert.strictEqual(yield* refuse, "")
    assert.deepStrictEqual(yield* Queue.take(warnings), warning)

    const isClosed = once(socket, "close")
    second.destroy()
    yield* Effect.promise(() => isClosed)
    yield* Effect.promise(() => accepted(server, connect()))
    assert.deepStrictEqual(yield* rejected, [countOf("total", 3)])
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.scoped))

it.effect("closes connections of an address above its maximum, and counts and logs them", () =>
  Effect.gen(function*() {
    const { connect, server } = yield* listen({ connectionsMax: 10, address: { max: 2, proxies: [] } })
    const { rejected, warnings } = yield* observeRejected({ server, listener: "clients", addressMax: 2 })
    const first = connect()
    const socket = yield* Effect.promise(() => accepted(server, first))
    yield* Effect.promise(() => accepted(server, connect()))
    assert.strictEqual(yield* Effect.promise(() => text(connect())), "")
    assert.deepStrictEqual(yield* rejected, [countOf("total", 0), countOf("address", 1)])
    assert.deepStrictEqual(yield* Queue.take(warnings), {
      listener: "clients",
      address: "127.0.0.1",
      maximum: 2
    })

    // Another address has connections of its own.
    yield* Effect.promise(() => accepted(server, connect("127.0.0.2")))
    const isClosed = once(socket, "close")
    first.destroy()
    yield* Effect.promise(() => isClosed)
    yield* Effect.promise(() => accepted(server, connect()))
    assert.deepStrictEqual(yield* rejected, [countOf("total", 0), countOf("address", 1)])
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.scoped))

it("counts the connections of an IPv6 client by its /48", () => {
  const server = createServer()
  AddressConnections.limit(server, { max: 1, proxies: [] })
  const isAccepted = (remoteAddress: string) => {
    const socket: Socket = Object.defineProperty(new Socket(), "remoteAddress", { value: remoteAddress })
    server.emit("connection", socket)
    return !socket.destroyed
  }
  assert.isTrue(isAccepted("2001:db8:1:1::1"))
  assert.isFalse(isAccepted("2001:db8:1:2::1"))
  assert.isTrue(isAccepted("2001:db8:2:1::1"))
})

it.live("does not limit the connections of a proxy", () =>
  Effect.gen(function*() {
    const proxies = [IpNetwork.fromStringUnsafe("127.0.0.0/31")]
    const { connect, server } = yield* listen({ connectionsMax: 10, address: { max: 1, proxies } })
    for (let n = 0; n < 3; n++) yield* Effect.promise(() => accepted(server, connect()))
    yield* Effect.promise(() => accepted(server, connect("127.0.0.2")))
    assert.strictEqual(yield* Effect.promise(() => text(connect("127.0.0.2"))), "")
  }).pipe(Effect.scoped))
