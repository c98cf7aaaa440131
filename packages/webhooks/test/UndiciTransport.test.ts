import { assert, it } from "@effect/vitest"
import { AddressGuard, type Target } from "@kinora/address-guard/AddressGuard"
import { NameServer } from "@kinora/testkit"
import { Effect, Exit, Fiber, Latch, Scope } from "effect"
import type { Socket } from "node:net"
import type { Outcome } from "../src/Delivery.ts"
import * as UndiciTransport from "../src/UndiciTransport.ts"
import { body, makeRawReceiver, makeReceiver, makeTransport, requestTo } from "./receivers.ts"

const good: Outcome = { reason: "ok", httpStatus: 204 }

it.live("posts the body with exactly the given headers and those that HTTP requires", () =>
  Effect.gen(function*() {
    const receiver = yield* makeReceiver()
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), good)
    const arrived = receiver.arrived[0]!
    assert.strictEqual(arrived.path, "/hooks?a=b")
    assert.deepStrictEqual(arrived.body, body)
    assert.deepStrictEqual(arrived.rawHeaders, [
      "host",
      `127.0.0.1:${receiver.port}`,
      "connection",
      "keep-alive",
      "Content-Type",
      "application/json",
      "X-Service-Signature",
      "t=1,v1=00",
      "user-agent",
      "Service/1.0",
      "content-length",
      String(body.length)
    ])
  }))

it.live("does not follow redirects", () =>
  Effect.gen(function*() {
    const elsewhere = yield* makeReceiver()
    const receiver = yield* makeReceiver({
      answer: (_, response) => response.writeHead(307, { location: `http://127.0.0.1:${elsewhere.port}/` }).end()
    })
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), { reason: "redirect", httpStatus: 307 })
    assert.strictEqual(elsewhere.connections(), 0)
  }))

it.live("times out if a receiver does not respond, and closes the connection", () =>
  Effect.gen(function*() {
    const receiver = yield* makeRawReceiver(() => {})
    const { send } = yield* makeTransport({ timeout: "100 millis" })
    assert.deepStrictEqual(yield* send(requestTo(receiver)), { reason: "timeout", httpStatus: null })
    yield* receiver.idle.await
  }))

it.live("reuses an open connection", () =>
  Effect.gen(function*() {
    const receiver = yield* makeReceiver()
    const { send } = yield* makeTransport()
    for (let nth = 0; nth < 20; nth++) assert.deepStrictEqual(yield* send(requestTo(receiver)), good)
    assert.strictEqual(receiver.connections(), 1)
  }))

it.live("opens a new connection if the old one was closed", () =>
  Effect.gen(function*() {
    // Announces keep-alive and closes the connection.
    const receiver = yield* makeReceiver({
      answer: (request, response) => response.writeHead(204).end(() => request.socket.destroy())
    })
    const other = yield* makeReceiver()
    const { send } = yield* makeTransport()
    for (let nth = 0; nth < 20; nth++) {
      assert.deepStrictEqual(yield* send(requestTo(receiver)), good)
      yield* receiver.idle.await
      // A response of another receiver shows that the end of the connection was processed.
      yield* send(requestTo(other))
    }
    assert.strictEqual(receiver.connections(), 20)
  }))

it.live("repeats a request on a new connection if nothing of it was written", () =>
  Effect.gen(function*() {
    let sockets: ReadonlyArray<Socket> = []
    const receiver = yield* makeReceiver({
      answer: (request, response) => {
        sockets = [...sockets, request.socket]
        response.writeHead(204).end()
      }
    })
    // The receiver closes during the check of the address, in a phase of the event loop after which
    // sockets are read before they are written.
    const check = (url: string) =>
      Effect.callback<Target>((resume) => {
        setImmediate(() => {
          for (const socket of sockets) socket.destroy()
          resume(Effect.succeed({ url: new URL(url), addresses: ["127.0.0.1"] }))
        })
      })
    const { send } = yield* Effect.provideService(UndiciTransport.make({}), AddressGuard, { check })
    for (let nth = 1; nth <= 10; nth++) {
      assert.deepStrictEqual(yield* send(requestTo(receiver)), good)
      assert.deepStrictEqual([receiver.arrived.length, receiver.connections()], [nth, nth])
    }
  }))

it.live("does not repeat a request that a receiver may have processed", () =>
  Effect.gen(function*() {
    let requests = 0
    const receiver = yield* makeReceiver({
      answer: (request, response) => {
        requests++
        if (requests === 1) response.writeHead(204).end()
        else request.socket.destroy()
      }
    })
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), good)
    assert.deepStrictEqual(yield* send(requestTo(receiver)), { reason: "connect", httpStatus: null })
    assert.deepStrictEqual([requests, receiver.connections()], [2, 1])
  }))

it.live("closes connections that are idle for too long or exceed the limit", () =>
  Effect.gen(function*() {
    const { send } = yield* makeTransport({ idleTime: "50 millis" })
    const receiver = yield* makeReceiver()
    yield* send(requestTo(receiver))
    yield* receiver.idle.await
    const taciturn = yield* makeRawReceiver((socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`))
    yield* send(requestTo(taciturn))
    yield* taciturn.idle.await

    const bounded = yield* makeTransport({ idleConnectionsMax: 1, idleTime: "1 minute" })
    const [one, other] = [yield* makeReceiver(), yield* makeReceiver()]
    yield* bounded.send(requestTo(one))
    yield* bounded.send(requestTo(other))
    yield* one.idle.await
    assert.strictEqual(other.open(), 1)
  }))

it.live("closes the connection of an interrupted send", () =>
  Effect.gen(function*() {
    const arrived = yield* Latch.make()
    const receiver = yield* makeRawReceiver(() => arrived.openUnsafe())
    const { send } = yield* makeTransport()
    const sending = yield* Effect.forkChild(send(requestTo(receiver)))
    yield* arrived.await
    yield* Fiber.interrupt(sending)
    yield* receiver.idle.await
  }))

it.live("closes all connections with its scope", () =>
  Effect.gen(function*() {
    const arrived = yield* Latch.make()
    const quick = yield* makeReceiver()
    const silent = yield* makeRawReceiver(() => arrived.openUnsafe())
    const scope = yield* Scope.make()
    const { send } = yield* Scope.provide(makeTransport({ idleTime: "1 minute" }), scope)
    yield* Effect.all([send(requestTo(quick)), send(requestTo(quick))], { concurrency: 2 })
    assert.strictEqual(quick.open(), 2)
    const sending = yield* Effect.forkChild(send(requestTo(silent)))
    yield* arrived.await
    yield* Scope.close(scope, Exit.void)
    yield* quick.idle.await
    yield* silent.idle.await
    assert.strictEqual((yield* Fiber.join(sending)).reason, "connect")
  }))

it.live("connects only to the checked address", () =>
  Effect.gen(function*() {
    const checked = yield* makeReceiver({ host: "127.0.0.2" })
    const other = yield* makeReceiver({ host: "127.0.0.3", port: checked.port })
    const names = yield* NameServer.make((_, type, asked) =>
      type === "A" ? [asked === 0 ? "127.0.0.2" : "127.0.0.3"] : []
    )
    const { send } = yield* makeTransport({}, [names.address])
    assert.deepStrictEqual(yield* send(requestTo(checked, "receiver.dev")), good)
    assert.strictEqual(checked.arrived[0]?.address, "127.0.0.2")
    assert.strictEqual(names.asked("receiver.dev", "A"), 1)
    assert.strictEqual(other.connections(), 0)

    // A connection to a former address of the name is not reused.
    assert.deepStrictEqual(yield* send(requestTo(checked, "receiver.dev")), good)
    assert.strictEqual(names.asked("receiver.dev", "A"), 2)
    assert.deepStrictEqual([checked.arrived.length, other.arrived.length], [1, 1])
  }))

it.live("tries the next address of a host if one does not respond", () =>
  Effect.gen(function*() {
    const receiver = yield* makeReceiver({ host: "127.0.0.3" })
    const names = yield* NameServer.make((_, type) => type === "A" ? ["127.0.0.2", "127.0.0.3"] : [])
    const { send } = yield* makeTransport({}, [names.address])
    assert.deepStrictEqual(yield* send(requestTo(receiver, "receiver.dev")), good)
  }))

it.live("ignores proxy variables of the environment", () =>
  Effect.gen(function*() {
    const proxy = yield* makeReceiver()
    const receiver = yield* makeReceiver()
    const names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`
      }),
      () =>
        Effect.sync(() => {
          for (const name of names) delete process.env[name]
        })
    )
    const { send } = yield* makeTransport()
    assert.deepStrictEqual(yield* send(requestTo(receiver)), good)
    assert.strictEqual(proxy.connections(), 0)
  }))
