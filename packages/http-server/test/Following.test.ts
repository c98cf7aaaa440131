import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { Generation } from "@kinora/generations"
import { Access, Api } from "@kinora/http-api"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { createServer } from "node:http"
import * as HttpServerRoutes from "../src/HttpServerRoutes.ts"
import * as Host from "./Host.ts"

/** The routes on a free port of this machine, in real time. */
const server = HttpRouter.serve(HttpServerRoutes.layerWith({ creatingBodyBytesMax: 1_000_000 }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(
  Layer.provideMerge(Host.services),
  Layer.provideMerge(Layer.mergeAll(
    // An idle connection must not be closed during the request of the next test.
    NodeHttpServer.layer(() => createServer({ keepAliveTimeout: 600_000 }), { port: 0 }),
    FetchHttpClient.layer
  ))
)

const origin = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`
)

let accounts = 0

/** An account with a waiting job, and a client with its key. */
const open = Effect.gen(function*() {
  const { account, key, keyId } = yield* Host.openAccount({ email: `account-${accounts++}@example.com` })
  const withKey: HttpApiMiddleware.HttpApiMiddlewareClient<never, never, never> = ({ next, request }) =>
    next(HttpClientRequest.bearerToken(request, key))
  const base = yield* origin
  const { generations: client } = yield* HttpApiClient.make(Api.Api, { baseUrl: base }).pipe(
    Effect.provide(Layer.mergeAll(
      HttpApiMiddleware.layerClient(Access.BearerAuth, withKey),
      HttpApiMiddleware.layerClient(Access.ContentAuth, withKey)
    ))
  )
  const payload = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } } as const
  const { generation } = yield* client.create({ headers: {}, payload })
  const id = Generation.GenerationId.parse(generation.id)!
  const request = (
    method: string,
    path: string,
    init: Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> } = {}
  ) =>
    fetch(`${base}${path}`, {
      ...init,
      method,
      headers: { ...init.headers, authorization: `Bearer ${Redacted.value(key)}` }
    })
  return { account, client, id, keyId, request }
})

layer(server, { excludeTestServices: true })("over a socket", (it) => {
  it.effect("streams the states of a job to a typed client", () =>
    Effect.gen(function*() {
      const { client, id, keyId } = yield* open
      const events = yield* client.events({ params: { id } })
      const following = yield* Effect.forkChild(Stream.runCollect(events))
      yield* Host.held("wait", keyId, 1)
      yield* Host.fail(id)
      const statuses = (yield* Fiber.join(following)).map(({ status }) => status)
      assert.deepStrictEqual([statuses[0], statuses.at(-1)], ["queued", "failed"])
      yield* Host.held("wait", keyId, 0)
    }))

  it.effect("frees the place of a client that disconnects from an event stream, and of HEAD", () =>
    Effect.gen(function*() {
      const { id, keyId, request } = yield* open
      const left = new AbortController()
      const path = `/v1/generations/${id}/events`
      const response = yield* Effect.promise(() => request("GET", path, { signal: left.signal }))
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      yield* Effect.promise(async () => response.body?.getReader().read())
      yield* Host.held("wait", keyId, 1)
      left.abort()
      yield* Host.held("wait", keyId, 0)
      const head = yield* Effect.promise(() => request("HEAD", path))
      assert.deepStrictEqual([head.status, head.headers.get("content-type")], [200, "text/event-stream"])
      yield* Host.held("wait", keyId, 0)
    }))

  it.effect("sends an image in base64 in pieces, with its length", () =>
    Effect.gen(function*() {
      const { account, keyId, request } = yield* open
      const body = JSON.stringify({ model: "remix-1", prompt: "a sea" })
      const headers = { "content-type": "application/json" }
      const asking = yield* Effect.forkChild(
        Effect.promise(async () => {
          const response = await request("POST", "/v1/images/generations", { body, headers })
          return { length: Number(response.headers.get("content-length")), text: await response.text() }
        })
      )
      yield* Host.held("images", keyId, 1)
      const bytes = Uint8Array.from({ length: 1_000_000 }, (_, n) => n * 31)
      yield* Host.complete((yield* Host.newest(account)).id, bytes)
      const { length, text } = yield* Fiber.join(asking)
      assert.strictEqual(text.length, length)
      const { b64_json } = JSON.parse(text).data[0]
      assert.deepStrictEqual(Uint8Array.from(atob(b64_json), (letter) => letter.charCodeAt(0)), bytes)
      yield* Host.held("images", keyId, 0)
    }))

  it.effect("accepts an upload as a body and as a form, and rejects one that is too large", () =>
    Effect.gen(function*() {
      const { request } = yield* open
      const headers = { "content-type": "image/png" }
      const post = (body: Uint8Array<ArrayBuffer> | FormData, headers: Readonly<Record<string, string>> = {}) =>
        Effect.promise(async () => {
          const response = await request("POST", "/v1/uploads", { body, headers })
          return [response.status, JSON.parse(await response.text()).error?.code]
        })
      const form = new FormData()
      form.append("file", new Blob([Host.pixel], { type: "image/png" }), "lake.png")
      assert.deepStrictEqual(yield* post(Host.pixel, headers), [201, undefined])
      assert.deepStrictEqual(yield* post(form), [201, undefined])
      assert.deepStrictEqual(yield* post(new Uint8Array(10_485_761), headers), [413, "payload_too_large"])
    }))
})
