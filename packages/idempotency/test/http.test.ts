/** The middleware with responses in memory. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as HttpServers from "@kinora/testkit/HttpServers"
import express, { type Request } from "express"
import fastify, { type FastifyRequest } from "fastify"
import { type Context, Hono } from "hono"
import { once } from "node:events"
import { connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2"
import { gzipSync } from "node:zlib"
import * as onExpress from "../src/express.ts"
import * as onFastify from "../src/fastify.ts"
import * as onHono from "../src/hono.ts"
import { createIdempotency, type Idempotency } from "../src/promise.ts"
import { outcomeOf, post } from "./http/requests.ts"
import { behaviourSuite, newScope, storageSuite } from "./http/suite.ts"

describe("in memory", () => {
  let idempotency: Idempotency
  beforeAll(async () => {
    idempotency = await createIdempotency({ memory: true, sweep: false })
  })
  afterAll(() => idempotency.close())
  storageSuite(() => idempotency)
  behaviourSuite(() => idempotency)

  it("refuses to guess the content of a body that Express has not parsed, unless the program passes it", async () => {
    const options = { idempotency, scope: newScope() }
    const handle: HttpServers.Handler = async () => ({ body: "done" })
    const headers = { "content-type": "text/plain" }
    const guessing = await HttpServers.express((app) => app.use(onExpress.idempotent(options)), handle)
    assert.strictEqual((await post(guessing, { headers })).status, 500)
    const knowing = await HttpServers.express((app) => {
      app.use(
        onExpress.idempotent({ ...options, fingerprint: ({ headers }) => headers["content-type"]?.toString() ?? "" })
      )
    }, handle)
    assert.deepStrictEqual([await post(knowing, { headers }), await post(knowing, { headers })].map(outcomeOf), [
      "200",
      "200 replayed"
    ])
    const typed = await HttpServers.express((app) => {
      app.use(express.text(), onExpress.idempotent({ ...options, scope: (request: Request) => request.path }))
    }, handle)
    assert.deepStrictEqual(
      [
        await post(typed, { headers }),
        await post(typed, { headers }),
        await post(typed, { headers, json: "another" })
      ].map(outcomeOf),
      ["200", "200 replayed", "422"]
    )
  })

  it("replays a response that a compression middleware has compressed", async () => {
    const url = await HttpServers.express((app) => {
      app.use((_request, response, next) => {
        // As `compression` does: when the head is written, it decides whether to compress what follows.
        const [end, writeHead] = [response.end.bind(response), response.writeHead.bind(response)]
        let isCompressing = false
        Object.assign(response, {
          writeHead: (status: number) => {
            isCompressing = response.getHeader("content-encoding") === undefined
            if (isCompressing) response.set("content-encoding", "gzip").removeHeader("content-length")
            return writeHead(status)
          },
          end: (body: string | Uint8Array) => {
            if (!response.headersSent) response.writeHead(response.statusCode)
            return end(isCompressing ? gzipSync(body) : body)
          }
        })
        next()
      }, onExpress.idempotent({ idempotency, scope: newScope() }))
    }, async () => ({ headers: { "content-type": "text/plain" }, body: "done" }))
    const [first, replay] = [await post(url), await post(url)]
    assert.deepStrictEqual([first, replay].map(outcomeOf), ["200", "200 replayed"])
    assert.deepStrictEqual([first, replay].map(({ body, headers }) => [body, headers.get("content-encoding")]), [
      ["done", "gzip"],
      ["done", "gzip"]
    ])
  })

  it("leaves an invalid response in Express to its error handler, and runs the request again", async () => {
    const options = { idempotency, scope: newScope() }
    let handled = 0
    const url = await HttpServers.express((app) => {
      app.use(onExpress.idempotent(options))
      app.post("/chunk", (_request, response) => {
        if (handled++ > 0) return void response.send("done")
        // Callers without types can pass anything.
        response.end(5)
      })
      app.post("/status", (_request, response) => {
        response.statusCode = handled++ > 2 ? 200 : 20
        response.end("done")
      })
    }, async () => ({ body: "not reached" }))
    for (const path of ["/chunk", "/status"]) {
      const outcomes = [await post(url + path, { key: path }), await post(url + path, { key: path })].map(outcomeOf)
      assert.deepStrictEqual(outcomes, ["500", "200"])
    }
  })

  it("refuses to guess the content of a body that is not JSON, such as dates of a validator, and fields with cycles", async () => {
    const cyclic: { field?: object } = {}
    cyclic.field = { fields: cyclic }
    const shared = { currency: "eur" }
    const bodies = [{ at: new Date(0) }, cyclic, { file: Buffer.from("a") }, [1n], {
      price: shared,
      fee: shared,
      note: undefined
    }]
    const options = { idempotency, scope: newScope() }
    const url = await HttpServers.express((app) => {
      app.use((request, _response, next) => {
        request.body = bodies[Number(request.get("x-body"))]
        next()
      }, onExpress.idempotent(options))
    }, async () => ({ body: "done" }))
    const got = await Promise.all(bodies.map((_, index) => post(url, { headers: { "x-body": `${index}` } })))
    assert.deepStrictEqual(got.map(outcomeOf), ["500", "500", "500", "500", "200"])
  })

  it("refuses to guess the content of files, which a parser of Express leaves beside the body", async () => {
    const options = { idempotency, scope: newScope() }
    const url = await HttpServers.express((app) => {
      app.use(async (request, _response, next) => {
        const files = Buffer.concat(await request.toArray() as Array<Buffer>)
        Object.assign(request, { body: { title: "a lamp" }, files })
        next()
      }, onExpress.idempotent(options))
    }, async () => ({ body: "done" }))
    const headers = { "content-type": "Multipart/form-data; boundary=b" }
    assert.strictEqual(outcomeOf(await post(url, { headers })), "500")
    assert.strictEqual(outcomeOf(await post(url, { headers, key: undefined })), "200")
  })

  it("begins a request once that passes two middlewares", async () => {
    const options = { idempotency, scope: newScope(), wait: 0 }
    const url = await HttpServers.express((app) => {
      app.use(onExpress.idempotent(options), onExpress.idempotent(options))
    }, async () => ({ body: "done" }))
    assert.deepStrictEqual([await post(url), await post(url)].map(outcomeOf), ["200", "200 replayed"])
  })

  it("reads bodies in Hono up to a size, and leaves them to the handler", async () => {
    const options = { idempotency, scope: newScope(), bodyMax: 100 }
    const app = new Hono()
    app.use("/read", async (c, next) => {
      await c.req.text()
      await next()
    })
    app.use(onHono.idempotent(options))
    app.post("*", async (c) => c.text(`${await c.req.text()}, ${(await c.req.arrayBuffer()).byteLength}`))
    const send = async (
      path: string,
      key: string,
      body: string | ReadableStream<Uint8Array> | null,
      type = "text/plain"
    ) => {
      const headers = { "idempotency-key": key, "content-type": type }
      const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" }
      const response = await app.request(path, init)
      return [response.status, response.headers.get("idempotent-replayed"), await response.text()]
    }
    const long = "x".repeat(101)
    const chunks = () => ReadableStream.from(Array.from({ length: 101 }, () => Uint8Array.of(65)))
    assert.deepStrictEqual(await send("/", "k-1", "lamp"), [200, null, "lamp, 4"])
    assert.deepStrictEqual(await send("/", "k-1", "lamp"), [200, "true", "lamp, 4"])
    assert.deepStrictEqual((await send("/", "k-1", "damp"))[0], 422)
    assert.deepStrictEqual(await send("/read", "k-2", "lamp"), [200, null, "lamp, 4"])
    assert.deepStrictEqual((await send("/read", "k-2", "damp"))[0], 422)
    assert.deepStrictEqual((await send("/", "k-3", long))[0], 413)
    assert.deepStrictEqual((await send("/", "k-3", chunks()))[0], 413)
    assert.deepStrictEqual(await send("/", "k-4", "{\"a\":1,\"b\":2}", "application/json"), [
      200,
      null,
      "{\"a\":1,\"b\":2}, 13"
    ])
    assert.deepStrictEqual((await send("/", "k-4", "{\"b\":2, \"a\":1}", "application/problem+json"))[1], "true")
    assert.deepStrictEqual((await send("/", "k-5", "{", "application/json"))[0], 200)
    assert.deepStrictEqual(await send("/", "k-6", null), [200, null, ", 0"])
  })

  it("compares bodies and replays responses over HTTP/2, which announces no length", async () => {
    const app = fastify({ http2: true })
    let handled = 0
    app.addHook("preHandler", onFastify.idempotent({ idempotency, scope: newScope() }))
    app.post("/", async ({ body }) => ({ body, number: ++handled }))
    const client = connect(await app.listen({ port: 0, host: "127.0.0.1" }))
    const send = async (key: string, body?: string) => {
      const type = body === undefined ? {} : { "content-type": "application/json" }
      const stream = client.request({ ":method": "POST", "idempotency-key": key, ...type }, {
        endStream: body === undefined
      })
      if (body !== undefined) stream.end(body)
      const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders & IncomingHttpStatusHeader]
      const chunks = await stream.toArray()
      return [headers[":status"], headers["idempotent-replayed"], Buffer.concat(chunks as Array<Buffer>).toString()]
    }
    assert.deepStrictEqual(await send("k-1", "{\"a\":1}"), [200, undefined, "{\"body\":{\"a\":1},\"number\":1}"])
    assert.deepStrictEqual(await send("k-1", "{\"a\":1}"), [200, "true", "{\"body\":{\"a\":1},\"number\":1}"])
    assert.deepStrictEqual((await send("k-1", "{\"a\":2}"))[0], 422)
    assert.deepStrictEqual(await send("k-2"), [200, undefined, "{\"number\":2}"])
    assert.deepStrictEqual(await send("k-2"), [200, "true", "{\"number\":2}"])
    client.close()
    await app.close()
  })

  it("passes the failure of a stream in Hono to the client, and does not run the request again", async () => {
    const app = new Hono()
    app.use(onHono.idempotent({ idempotency, scope: newScope() }))
    const body = async function*() {
      yield new TextEncoder().encode("half")
      throw new Error("Injected")
    }
    app.post("/", () => new Response(ReadableStream.from(body())))
    const send = async () => app.request("/", { method: "POST", headers: { "idempotency-key": "k-1" } })
    const response = await send()
    assert.strictEqual(await response.text().catch(String), "Error: Injected")
    assert.strictEqual((await send()).status, 410)
  })

  it("passes the request of the framework to functions of the options, for every place of a middleware", async () => {
    interface Env {
      readonly Variables: { readonly account: string }
    }
    const onFastifyApp = fastify()
    const scope = newScope()
    const preHandler = onFastify.idempotent({ idempotency, scope: (request: FastifyRequest) => scope + request.url })
    onFastifyApp.post("/orders", { preHandler }, async () => "created")
    const app = new Hono<Env>()
    app.use((c, next) => {
      c.set("account", "ada")
      return next()
    })
    const scopeOf = (c: Context<Env>) => scope + c.get("account")
    app.post("/orders", onHono.idempotent({ idempotency, scope: scopeOf }), (c) => c.text("created"))
    const headers = { "idempotency-key": "k-1" }
    for (const isReplay of [undefined, "true"]) {
      const injected = await onFastifyApp.inject({ method: "POST", url: "/orders", headers })
      assert.deepStrictEqual([injected.body, injected.headers["idempotent-replayed"]], ["created", isReplay])
      const response = await app.request("/orders", { method: "POST", headers })
      assert.deepStrictEqual([await response.text(), response.headers.get("idempotent-replayed") ?? undefined], [
        "created",
        isReplay
      ])
    }
    await onFastifyApp.close()
  })
})
