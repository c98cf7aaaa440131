import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, it } from "@effect/vitest"
import { document as adminDocument } from "@kinora/http-api/AdminOpenApiDocument"
import { document as consoleDocument } from "@kinora/http-api/ConsoleOpenApiDocument"
import { document } from "@kinora/http-api/OpenApiDocument"
import { Duration, Effect, Fiber, Layer, Logger, Redacted, Stream } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import * as HttpServerRoutes from "../src/HttpServerRoutes.ts"
import * as Browsers from "./Browsers.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const token = "the token of the operators of this service"
const webhook = "/webhooks/stripe"
const withStripe = Host.layerWith({ paymentProvider: Host.paymentProvider })

/** A body that sends one byte and never ends. */
const stalled = () => Stream.toReadableStream(Stream.concat(Stream.make(new Uint8Array(1)), Stream.never))

/** The operations of the documents that read a body, each with a media type that it accepts. */
const readers = [document, adminDocument, consoleDocument].flatMap(({ paths }) =>
  Object.entries(paths).flatMap(([path, item]) =>
    (["post", "put", "patch"] as const).flatMap((method) => {
      const [type] = Object.keys(item[method]?.requestBody?.content ?? {})
      return type === undefined ? [] : [{ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, "x"), type }]
    })
  )
)

it.effect("responds with 408 to bodies that stall on every endpoint, and logs nothing", () => {
  const written: Array<unknown> = []
  return Effect.gen(function*() {
    const send = yield* Host.start({
      adminToken: Redacted.make(token),
      keyRequestsPerMinute: 1_000,
      smallBodiesBytesMax: 1024 ** 3
    })
    const { account, key } = yield* Host.openAccount()
    const { page: member } = yield* Browsers.signInAs(
      send,
      { scope: "account", account: account.id, role: "member", member: null }
    )
    const { page: operator } = yield* Browsers.signIn(send, { code: yield* operatorCode(send) })
    written.length = 0
    const requests = readers.map(({ method, path, type }) => {
      const sent = { body: stalled(), headers: { "content-type": type } }
      if (path.startsWith("/v1/")) return send(method, path, { ...sent, key })
      if (path.startsWith("/admin/")) return send(method, path, { ...sent, key: token })
      return path === "/console/v1/view" ? operator(method, path, sent) : member(method, path, sent)
    })
    assert.isAbove(requests.length, 30)
    requests.push(send("POST", webhook, { body: stalled(), headers: { "stripe-signature": "t=1" } }))
    const fibers = yield* Effect.forEach(requests, (request) => Effect.forkChild(request))
    for (let seconds = 0; fibers.some((fiber) => fiber.pollUnsafe() === undefined); seconds++) {
      assert.isBelow(seconds, 60)
      yield* TestClock.adjust("1 second")
    }
    for (const fiber of fibers) errorOf(yield* Fiber.join(fiber), "request_timeout")
    assert.deepStrictEqual(written, [])
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(withStripe, Logger.layer([Logger.make(({ message }) => written.push(message))])))
  )
})

/** Returns a code that signs an operator in. */
const operatorCode = Effect.fnUntraced(function*(send: Effect.Success<ReturnType<typeof Host.start>>) {
  return Browsers.linkOf(yield* send("POST", "/admin/v1/operators/owner/sign-in-links", { key: token })).code
})

it.effect("responds with 503 to a client whose bodies stall, and to no other one", () =>
  Effect.gen(function*() {
    // Room for four bodies, one for each client.
    const send = yield* Host.start({ smallBodiesBytesMax: 64 * 1024 })
    const { account } = yield* Host.openAccount()
    const { page: member } = yield* Browsers.signInAs(
      send,
      { scope: "account", account: account.id, role: "member", member: null }
    )
    const headers = { ...Browsers.samePage, "content-length": "100" }
    const stall = (from: string) =>
      Effect.forkChild(send("POST", Browsers.session, { from, headers, body: stalled() }), { startImmediately: true })
    const signIn = (from: string) =>
      send("POST", Browsers.session, {
        from,
        headers: { ...headers, "content-length": "20" },
        body: { code: "wrong" }
      })

    // All addresses of the /48 are one client.
    yield* stall("2001:db8:1:1::1")
    const crowded = yield* Effect.forkChild(signIn("2001:db8:1:2::1"), { startImmediately: true })
    errorOf(yield* signIn("203.0.113.1"), "invalid_code")
    yield* TestClock.adjust("5 seconds")
    const answer = yield* Fiber.join(crowded)
    errorOf(answer, "unavailable")
    assert.strictEqual(answer.headers["connection"], "close")

    // Clients without credentials do not use up the part of accounts.
    for (const from of ["203.0.113.2", "203.0.113.3", "203.0.113.4"]) yield* stall(from)
    const late = yield* Effect.forkChild(signIn("203.0.113.1"), { startImmediately: true })
    const key = { name: "mine" }
    const created = yield* member("POST", "/console/v1/keys", { headers: { "content-length": "15" }, body: key })
    assert.strictEqual(created.status, 201, created.text)
    yield* TestClock.adjust("1 second")
    assert.isUndefined(late.pollUnsafe())
    // The late bodies give their room back.
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(late)
    errorOf(yield* signIn("2001:db8:1:2::1"), "invalid_code")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("reads no webhook without a payment provider or a signature", () =>
  Effect.gen(function*() {
    const headers = { "stripe-signature": "t=1" }
    const withoutProvider = yield* Effect.provide(Host.start(), Host.layer)
    errorOf(yield* withoutProvider("POST", webhook, { body: stalled(), headers }), "not_found")
    const send = yield* Effect.provide(Host.start(), withStripe)
    errorOf(yield* send("POST", webhook, { body: stalled() }), "invalid_request")
  }).pipe(Effect.scoped))

/** The routes on a free port of this machine, in real time, behind a proxy. */
const server = HttpRouter.serve(
  HttpServerRoutes.layerWith({
    crowdedWait: Duration.millis(1),
    trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")]
  }),
  { disableLogger: true, disableListenLog: true }
).pipe(Layer.provideMerge(Host.services), Layer.provideMerge(NodeHttpServer.layerTest))

it.live("handles other requests while 520 bodies of a client without a key stall", () =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    const { key } = yield* Host.openAccount()
    const head = `POST ${Browsers.session} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 198.51.100.1\r\n` +
      "Sec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n" +
      "Expect: 100-continue\r\n\r\n"
    const open = Effect.acquireRelease(
      Effect.sync(() => connect(port, "127.0.0.1")),
      (socket) => Effect.sync(() => socket.destroy())
    )
    /** Returns the first line of the response: the server reads the body after `100 Continue`. */
    const stall = Effect.flatMap(open, (socket) =>
      Effect.callback<string>((done) => {
        socket.write(head)
        socket.once("data", (data) => {
          socket.write("{")
          done(Effect.succeed(String(data).split("\r\n", 1)[0] ?? ""))
        })
      }))
    const lines = yield* Effect.all(Array.from({ length: 520 }, () => stall), { concurrency: "unbounded" })
    assert.deepStrictEqual(
      [lines.filter((line) => line.includes(" 100 ")).length, lines.filter((line) => line.includes(" 503 ")).length],
      [256, 264]
    )

    const status = (path: string, init: RequestInit) =>
      Effect.promise(async (signal) => (await fetch(`http://127.0.0.1:${port}${path}`, { ...init, signal })).status)
    const json = { "content-type": "application/json" }
    const authorization = `Bearer ${Redacted.value(key)}`
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    assert.strictEqual(yield* status("/v1/models", { headers: { authorization } }), 200)
    assert.strictEqual(
      yield* status("/v1/generations", {
        method: "POST",
        headers: { ...json, authorization },
        body: JSON.stringify(body)
      }),
      201
    )
    const headers = { ...json, ...Browsers.samePage, "x-forwarded-for": "198.51.100.2" }
    const signIn = { method: "POST", headers, body: JSON.stringify({ code: "wrong" }) }
    assert.strictEqual(yield* status(Browsers.session, signIn), 401)
  }).pipe(Effect.scoped, Effect.provide(server)))
