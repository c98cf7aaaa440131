import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { Generations } from "@kinora/generations"
import { Access, Api } from "@kinora/http-api"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Budget, Places } from "@kinora/rate-limit"
import { BlobStore } from "@kinora/storage"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { createServer } from "node:http"
import { connect } from "node:net"
import * as HttpServerRoutes from "../src/HttpServerRoutes.ts"
import * as Host from "./Host.ts"

/** The routes on a free port of this machine, in real time. */
const server = HttpRouter.serve(HttpServerRoutes.layerWith({ creatingBodyBytesMax: 1000, bodiesBytesMax: 2000 }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(Host.services),
  Layer.provideMerge(NodeHttpServer.layerTest)
)

const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } } as const

let accounts = 0
const openAccount = Effect.suspend(() => Host.openAccount({ email: `account-${accounts++}@example.com` }))

const origin = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`
)

/** A client that sends the key of an account. */
const clientOf = (key: Redacted.Redacted) =>
  HttpApiClient.make(Api.Api).pipe(
    Effect.provide(Layer.mergeAll(
      HttpApiMiddleware.layerClient(Access.BearerAuth, ({ next, request }) =>
        next(HttpClientRequest.bearerToken(request, key))),
      HttpApiMiddleware.layerClient(Access.ContentAuth, ({ next, request }) =>
        next(HttpClientRequest.bearerToken(request, key)))
    ))
  )

const fetchText = (path: string, init: RequestInit = {}) =>
  Effect.flatMap(origin, (origin) =>
    Effect.promise(async (signal) => {
      const response = await fetch(`${origin}${path}`, { ...init, signal })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }))

layer(server, { excludeTestServices: true })("over a socket", (it) => {
  it.effect("serves the typed client: values, headers and errors are decoded", () =>
    Effect.gen(function*() {
      const { account, key } = yield* openAccount
      const client = yield* clientOf(key)
      const first = yield* client.generations.create({ headers: { "idempotency-key": "one" }, payload: body })
      assert.strictEqual(first.constructor.name, "CreatedGeneration")
      const again = yield* client.generations.create({ headers: { "idempotency-key": "one" }, payload: body })
      assert.strictEqual(again.constructor.name, "ReplayedGeneration")
      assert.deepStrictEqual(again.generation, first.generation)
      assert.strictEqual(first.location, `${yield* origin}/v1/generations/${first.generation.id}`)

      const params = { id: first.generation.id }
      assert.strictEqual((yield* client.generations.get({ params, query: { wait: 0 } })).status, "queued")
      assert.strictEqual((yield* client.generations.cancel({ params })).status, "cancelled")
      assert.strictEqual((yield* client.models.list()).data?.length, 5)
      assert.deepStrictEqual(yield* client.monitoring.ready(), { status: "ready" })

      const unknown = yield* Effect.flip(client.generations.get({ params: { id: "gen_1" }, query: {} }))
      assert.propertyVal(unknown, "_tag", "not_found")
      const { id } = yield* Host.addCompleted(account, new Uint8Array([1, 2, 3]))
      const late = yield* Effect.flip(client.generations.cancel({ params: { id } }))
      assert.propertyVal(late, "_tag", "not_cancellable")
      const wrong = yield* Effect.flip(
        client.generations.create({ headers: {}, payload: { ...body, params: { prompt: "", aspect_ratio: "x" } } })
      )
      assert.propertyVal(wrong, "_tag", "invalid_params")
      const content = yield* client.content.content({ params: { id }, query: {}, headers: {} })
      assert.deepStrictEqual(yield* Stream.runCollect(content), [new Uint8Array([1, 2, 3])])
      const range = { range: "bytes=9-" }
      const outside = yield* Effect.flip(client.content.content({ params: { id }, query: {}, headers: range }))
      assert.isTrue(outside._tag === "range_not_satisfiable" && outside.details.bytes === 3)
    }))

  it.effect("decodes the wait of a rate limit as a typed error", () =>
    Effect.gen(function*() {
      const { key } = yield* Host.openAccount({ email: "free@example.com", plans: false, credits: 1000 })
      const client = yield* clientOf(key)
      const create = (n: number) =>
        client.generations.create({ headers: {}, payload: { ...body, params: { prompt: `lake ${n}` } } })
      // One minute allows ten calls, and the calls take less than two minutes.
      const error = yield* Effect.flip(Effect.forEach(Array.from({ length: 21 }, (_, n) => n), create))
      assert.isTrue(error._tag === "rate_limited" && error.plan === "credits" && error.retryAfterMillis <= 60_000)
    }))

  it.effect("sends status, length and headers of HEAD, 206, 304 and 416", () =>
    Effect.gen(function*() {
      const { account, key } = yield* openAccount
      const { id } = yield* Host.addCompleted(account, new Uint8Array(300_000).fill(65))
      const get = (headers: Readonly<Record<string, string>>, method = "GET") =>
        fetchText(`/v1/generations/${id}/content`, {
          method,
          headers: { ...headers, authorization: `Bearer ${Redacted.value(key)}` }
        })
      const head = yield* get({}, "HEAD")
      assert.deepStrictEqual([head.status, head.headers.get("content-length"), head.text], [200, "300000", ""])
      const whole = yield* get({})
      assert.deepStrictEqual([whole.status, whole.text.length], [200, 300_000])
      const part = yield* get({ range: "bytes=1-262144" })
      assert.deepStrictEqual([part.status, part.text.length], [206, 262_144])
      assert.strictEqual(part.headers.get("content-range"), "bytes 1-262144/300000")
      assert.strictEqual(part.headers.get("content-length"), "262144")
      const same = yield* get({ "if-none-match": whole.headers.get("etag") ?? "" })
      assert.deepStrictEqual([same.status, same.text], [304, ""])
      const outside = yield* get({ range: "bytes=300000-" })
      assert.deepStrictEqual([outside.status, outside.headers.get("content-range")], [416, "bytes */300000"])
    }))

  it.effect("rejects a body that is too large, also without a declared length", () =>
    Effect.gen(function*() {
      const { key } = yield* openAccount
      const chunk = new TextEncoder().encode("x".repeat(600))
      const answer = yield* fetchText("/v1/generations", {
        method: "POST",
        headers: { authorization: `Bearer ${Redacted.value(key)}`, "content-type": "application/json" },
        body: Stream.toReadableStream(Stream.make(chunk, chunk)),
        duplex: "half"
      })
      assert.strictEqual(answer.status, 413)
      assert.strictEqual(JSON.parse(answer.text).error.code, "payload_too_large")
    }))

  it.effect("creates jobs while other bodies of the account stall", () =>
    Effect.gen(function*() {
      const { key } = yield* openAccount
      const { hostname, port } = new URL(yield* origin)
      const open = Effect.acquireRelease(
        Effect.sync(() => connect(Number(port), hostname)),
        (socket) => Effect.sync(() => socket.destroy())
      )
      const stall = Effect.flatMap(open, (socket) =>
        Effect.callback<void>((done) => {
          socket.write(
            `POST /v1/generations HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${Redacted.value(key)}\r\n` +
              "Content-Type: application/json\r\nContent-Length: 900\r\nExpect: 100-continue\r\n\r\n"
          )
          // The server reads the body from then on.
          socket.once("data", (data) => {
            assert.include(String(data), "100 Continue")
            socket.write("{")
            done(Effect.void)
          })
        }))
      yield* Effect.all(Array.from({ length: 11 }, () => stall), { concurrency: "unbounded" })
      const created = yield* fetchText("/v1/generations", {
        method: "POST",
        headers: { authorization: `Bearer ${Redacted.value(key)}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      assert.strictEqual(created.status, 201, created.text)
    }).pipe(Effect.scoped))

  it.effect("counts failed authentications by the address of the socket", () =>
    Effect.gen(function*() {
      const answer = yield* fetchText("/v1/models", { headers: { "x-forwarded-for": "198.51.100.1" } })
      assert.strictEqual(answer.status, 401)
      const other = yield* fetchText("/v1/models", { headers: { "x-forwarded-for": "198.51.100.2" } })
      assert.isBelow(Number(other.headers.get("x-ratelimit-remaining")), 59)
    }))
})

const chunkBytes = 65_536

/** A virtual file of ten GiB in chunks of 64 KiB, which records the requested chunks and when the reader stops. */
const makeEndless = Effect.gen(function*() {
  const closed = yield* Deferred.make<void>()
  const chunk = new Uint8Array(chunkBytes)
  const state = { chunks: 0 }
  const stream = Stream.fromEffectRepeat(Effect.sync(() => {
    state.chunks++
    return chunk
  })).pipe(Stream.ensuring(Deferred.succeed(closed, undefined)))
  return { closed, state, stream }
})

layer(Layer.mergeAll(Host.services, HttpServer.layerServices), { excludeTestServices: true })("a stream", (it) => {
  it.effect("closes a file when its client disconnects, and reads it no faster than the client", () =>
    Effect.gen(function*() {
      const { closed, state, stream } = yield* makeEndless
      const { account, key } = yield* Host.openAccount()
      const generations = yield* Generations.Generations
      const { id } = yield* Host.addCompleted(account, new Uint8Array(1))
      const bytes = 10 * 2 ** 30
      const used = Budget.Budget.use((budget) => budget.used(`bytes:${account.id}`))
      const routes = HttpRouter.serve(HttpServerRoutes.layer, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeHttpServer.layerTest)
      )
      const blobs = yield* BlobStore.BlobStore
      const context = yield* Layer.build(routes).pipe(
        Effect.provideService(BlobStore.BlobStore, { ...blobs, get: () => stream }),
        Effect.provideService(Generations.Generations, {
          ...generations,
          file: (id, file, account) =>
            Effect.map(generations.file(id, file, account), (found) => ({
              ...found,
              file: { ...found.file, bytes }
            }))
        })
      )
      const url = `${yield* Effect.provide(origin, context)}/v1/generations/${id}/content`
      const left = new AbortController()
      yield* Effect.promise(async () => {
        const headers = { authorization: `Bearer ${Redacted.value(key)}` }
        const response = await fetch(url, { headers, signal: left.signal })
        assert.strictEqual(response.headers.get("content-length"), String(bytes))
        await response.body?.getReader().read()
      })
      // Bytes are reserved one block at a time, so a killed host leaves the rest of the file uncounted.
      const setAside = yield* used
      assert.isTrue(setAside > 0 && setAside <= state.chunks * chunkBytes + 16 * 2 ** 20, `${setAside} bytes`)
      left.abort()
      yield* Deferred.await(closed)
      // The buffers of two sockets hold this much, a small part of the file.
      assert.isBelow(state.chunks, 1000)

      // The place of the stream is freed last, after the bytes are settled.
      const places = yield* Places.Places
      const isReleased: Effect.Effect<void, StorageError> = Effect.flatMap(
        places.held(`streams:${account.id}`),
        (held) => held === 0 ? Effect.void : Effect.andThen(Effect.yieldNow, isReleased)
      )
      yield* isReleased
      const counted = yield* used
      assert.isTrue(counted > 0 && counted <= state.chunks * chunkBytes, `${counted} of ${state.chunks} chunks`)
    }).pipe(Effect.scoped))

  it.effect("ends a long poll when its client disconnects", () =>
    Effect.gen(function*() {
      const { entered, left, origin, key } = yield* servePolls("leaver@example.com")
      const client = new AbortController()
      const headers = { authorization: `Bearer ${Redacted.value(key)}` }
      const gone = fetch(`${origin}/v1/generations/gen_1?wait=60`, { headers, signal: client.signal }).catch(() => {})
      yield* Deferred.await(entered)
      client.abort()
      yield* Deferred.await(left)
      yield* Effect.promise(() => gone)
    }).pipe(Effect.scoped))

  it.effect("responds with 503 to requests in flight when the host stops", () =>
    Effect.gen(function*() {
      const { entered, key, origin, stop } = yield* servePolls("stayer@example.com")
      const headers = { authorization: `Bearer ${Redacted.value(key)}` }
      const waiting = fetch(`${origin}/v1/generations/gen_1?wait=60`, { headers })
      yield* Deferred.await(entered)
      const stopping = yield* Effect.forkChild(stop)
      const response = yield* Effect.promise(() => waiting)
      assert.strictEqual(response.status, 503)
      assert.strictEqual(response.headers.get("connection"), "close")
      assert.include(yield* Effect.promise(() => response.text()), "\"code\":\"unavailable\"")
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped))
})

/** A server whose long polls end only when interrupted. */
const servePolls = Effect.fnUntraced(function*(email: string) {
  const { key } = yield* Host.openAccount({ email })
  const generations = yield* Generations.Generations
  const entered = yield* Deferred.make<void>()
  const left = yield* Deferred.make<void>()
  const wait = Effect.andThen(Deferred.succeed(entered, undefined), Effect.never).pipe(
    Effect.onInterrupt(() => Deferred.succeed(left, undefined))
  )
  const scope = yield* Scope.fork(yield* Effect.scope)
  const routes = HttpRouter.serve(HttpServerRoutes.layer, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, gracefulShutdownTimeout: "1 millis" }))
  )
  const context = yield* Layer.buildWithScope(routes, scope).pipe(
    Effect.provideService(Generations.Generations, { ...generations, wait: () => wait })
  )
  return { entered, left, key, origin: yield* Effect.provide(origin, context), stop: Scope.close(scope, Exit.void) }
})
