import { assert, it } from "@effect/vitest"
import { Readiness } from "@kinora/http-server"
import { BlobStore, UrlSigner } from "@kinora/storage"
import { Context, Effect, Exit, Fiber, Latch, Layer, Option, Redacted, Schema, Scope } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import * as Drivers from "../src/Drivers.ts"
import * as Http from "../src/Http.ts"
import * as Notifications from "../src/Notifications.ts"
import * as OperatorListener from "../src/OperatorListener.ts"
import * as Services from "../src/Services.ts"
import * as Settings from "../src/Settings.ts"
import * as Stores from "../src/Stores.ts"
import * as Webhook from "../src/Webhook.ts"

const services = Services.layer({}).pipe(
  Layer.provideMerge(Layer.mergeAll(
    Stores.layerMemory,
    BlobStore.layerMemory,
    Notifications.layerLocal,
    Drivers.layer(),
    Readiness.layerAlways,
    UrlSigner.layer({ keys: [Redacted.make("at least 32 bytes that only the service has")] }),
    Webhook.layerProtection({ keys: [Redacted.make("at least 32 bytes that seal what the service keeps")] })
  ))
)

const server = Http.layer({ host: "127.0.0.1", port: 0, interface: {}, drain: "10 seconds", grace: 0 }).pipe(
  Layer.provide(services)
)

const NotReady = Schema.Struct({ error: Schema.Struct({ details: Schema.Json }) })

it.effect("accepts requests while it drains and /readyz returns 503, then refuses connections", () =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(server, scope)
    const baseUrl = yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), context)
    const get = (path: string) => Effect.tryPromise((signal) => fetch(`${baseUrl}${path}`, { signal }))
    assert.strictEqual((yield* get("/readyz")).status, 200)

    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    const refused = yield* get("/readyz")
    assert.strictEqual(refused.status, 503)
    const { error } = yield* Schema.decodeUnknownEffect(NotReady)(yield* Effect.promise(() => refused.json()))
    assert.deepStrictEqual(error.details, { not_ready: ["draining"] })
    assert.strictEqual((yield* get("/healthz")).status, 200)
    assert.strictEqual((yield* get("/v1/models")).status, 401)

    yield* TestClock.adjust("10 seconds")
    yield* Fiber.join(stopping)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(get("/healthz"))))
  }))

/** Sends lines on a connection, and returns the status and the code of the error. */
const exchange = (port: number, ...lines: ReadonlyArray<string>) =>
  Effect.callback<readonly [status: string, code: string | undefined]>((resume) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => {
      text += String(chunk)
      if (text.endsWith("}")) socket.destroy()
    })
    socket.once("close", () => {
      resume(Effect.succeed([text.split(" ", 2)[1] ?? "", /"code":"(\w+)"/.exec(text)?.[1]]))
    })
    socket.write(`${lines.join("\r\n")}\r\n\r\n`)
    return Effect.sync(() => socket.destroy())
  })

it.effect("reads the target and the host of a request as RFC 9112 requires", () =>
  Effect.gen(function*() {
    const context = yield* Http.layer({ host: "127.0.0.1", port: 0, interface: {}, grace: 0 }).pipe(
      Layer.provide(services),
      Layer.build
    )
    const { address } = Context.get(context, HttpServer.HttpServer)
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    const close = "connection: close"
    const good = [
      ["GET /healthz HTTP/1.0"],
      ["GET /healthz HTTP/1.1", "host: [::1]:4747", close],
      ["GET /healthz HTTP/1.1", "host:", close],
      ["GET http://example.com/healthz HTTP/1.1", "host: other", close],
      ["GET HTTPS://example.com:80/healthz?a HTTP/1.1", "host: other", close],
      ["GET /healthz HTTP/1.1", "host: a", "upgrade: h2c", "connection: upgrade, close"]
    ]
    for (const lines of good) {
      assert.deepStrictEqual([lines, yield* exchange(port, ...lines)], [lines, ["200", undefined]])
    }
    const start = ["GET http://example.com?a HTTP/1.1", "host: a", close]
    assert.deepStrictEqual(yield* exchange(port, ...start), ["302", undefined])
    const unknown = [
      ["GET http://example.com//healthz HTTP/1.1", "host: a", close],
      ["OPTIONS * HTTP/1.1", "host: a", close]
    ]
    for (const lines of unknown) {
      assert.deepStrictEqual([lines, yield* exchange(port, ...lines)], [lines, ["404", "not_found"]])
    }
    const invalid = [
      ["GET /healthz HTTP/1.1"],
      ["GET /healthz HTTP/1.1", "host: a", "Host: a"],
      ["GET /healthz HTTP/1.1", "host: a, b"],
      ["GET /healthz HTTP/1.1", "host: a/b"],
      ["GET /healthz HTTP/1.1", "host: a", "host: b", "connection: upgrade", "upgrade: websocket"],
      ["GET http:///healthz HTTP/1.1", "host: a"],
      ["GET http://user@example.com/healthz HTTP/1.1", "host: a"],
      ["GET ftp://example.com/healthz HTTP/1.1", "host: a"],
      ["GET http://example.com/healthz HTTP/1.1"],
      ["CONNECT example.com:443 HTTP/1.1", "host: example.com:443"]
    ]
    for (const lines of invalid) {
      assert.deepStrictEqual([lines, yield* exchange(port, ...lines)], [lines, ["400", "invalid_request"]])
    }
  }).pipe(Effect.scoped))

it.effect("serves the metrics and the readiness of a worker until its work has stopped", () =>
  Effect.gen(function*() {
    const isStopping = yield* Latch.make()
    const mayStop = yield* Latch.make()
    const work = Layer.effectDiscard(
      Effect.addFinalizer(() => Effect.andThen(isStopping.open, mayStop.await))
    )
    const scope = yield* Scope.make()
    const context = yield* Http.layerWorker(work, { operator: { host: "127.0.0.1", port: 0 } }).pipe(
      Layer.provide(services),
      Layer.buildWithScope(scope)
    )
    const origin = Option.getOrThrow(Context.get(context, OperatorListener.OperatorOrigin))
    const get = (path: string) => Effect.tryPromise((signal) => fetch(`${origin}${path}`, { signal }))
    assert.strictEqual((yield* get("/healthz")).status, 200)
    assert.strictEqual((yield* get("/readyz")).status, 200)
    assert.strictEqual((yield* get("/metrics")).status, 200)
    assert.strictEqual((yield* get("/admin/v1/openapi.json")).status, 404)
    assert.strictEqual((yield* get("/v1/models")).status, 404)

    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* isStopping.await
    assert.strictEqual((yield* get("/readyz")).status, 503)
    assert.strictEqual((yield* get("/metrics")).status, 200)
    yield* mayStop.open
    yield* Fiber.join(stopping)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(get("/healthz"))))
  }))

/** Opens a connection that stays open, and returns what the server has sent when it has responded or closed the connection. */
const begin = (port: number, localAddress: string) =>
  Effect.flatMap(
    Effect.acquireRelease(
      Effect.sync(() => connect({ port, host: "127.0.0.1", localAddress })),
      (socket) => Effect.sync(() => socket.destroy())
    ),
    (socket) =>
      Effect.callback<string>((resume) => {
        socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        socket.once("data", (data) => resume(Effect.succeed(String(data).split("\r\n", 1)[0] ?? "")))
        socket.once("error", () => socket.destroy())
        socket.once("close", () => resume(Effect.succeed("closed")))
      })
  )

it.effect("closes connections of an address to the listener for operators above a quarter of its maximum", () =>
  Effect.gen(function*() {
    const context = yield* Http.layerWorker(Layer.empty, { operator: { host: "127.0.0.1", port: 0 } }).pipe(
      Layer.provide(services),
      Layer.build
    )
    const port = Number(new URL(Option.getOrThrow(Context.get(context, OperatorListener.OperatorOrigin))).port)
    for (let count = 0; count < 64; count++) assert.strictEqual(yield* begin(port, "127.0.0.1"), "HTTP/1.1 200 OK")
    assert.strictEqual(yield* begin(port, "127.0.0.1"), "closed")
    assert.strictEqual(yield* begin(port, "127.0.0.2"), "HTTP/1.1 200 OK")
  }).pipe(Effect.scoped))

it.effect("passes the bytes of small bodies to the interface", () =>
  Effect.gen(function*() {
    const settings = yield* Settings.load({ KINORA_SMALL_BODIES_MIB: "32" })
    assert.strictEqual(Http.interfaceOf(settings).smallBodiesBytesMax, 32 * 1024 ** 2)
  }))

it.effect("explains why the listener for operators cannot be opened", () =>
  Effect.gen(function*() {
    const first = yield* Http.layer({ host: "127.0.0.1", port: 0, interface: {}, grace: 0 }).pipe(
      Layer.provide(services),
      Layer.build
    )
    const { address } = Context.get(first, HttpServer.HttpServer)
    const port = address._tag === "UnixPathAddress" ? 0 : address.port
    const failureOf = (host: string, port: number) =>
      Http.layer({ host: "127.0.0.1", port: 0, interface: {}, operator: { host, port } }).pipe(
        Layer.provide(services),
        Layer.build,
        Effect.flip,
        Effect.map(({ message }) => message)
      )
    assert.strictEqual(
      yield* failureOf("127.0.0.1", port),
      `The listener for operators cannot be opened: port ${port} of 127.0.0.1 is in use. ` +
        "Set KINORA_ADMIN_PORT to another port, to 0 for any free port, or to off"
    )
    assert.strictEqual(
      yield* failureOf("192.0.2.1", 4748),
      "The listener for operators cannot be opened: port 4748 of 192.0.2.1 is not on this machine. " +
        "Check KINORA_ADMIN_HOST"
    )
  }).pipe(Effect.scoped))
