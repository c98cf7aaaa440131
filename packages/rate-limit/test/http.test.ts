/** The middleware with limits in memory, and what it does without a server. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { StorageError } from "@kinora/persistence/StorageError"
import { rateLimit as honoRateLimit } from "@kinora/rate-limit/hono"
import * as HttpServers from "@kinora/testkit/HttpServers"
import type { Request } from "express"
import createFastify, { type FastifyRequest } from "fastify"
import { type Context, Hono } from "hono"
import { rateLimit as expressRateLimit } from "../src/express.ts"
import { rateLimit as fastifyRateLimit } from "../src/fastify.ts"
import { limiter } from "../src/http.ts"
import { createLimits, type Limits, StorageFailedError } from "../src/promise.ts"
import { countingSuite, responseSuite } from "./http/suite.ts"

describe("in memory", () => {
  let limits: Limits
  beforeAll(async () => {
    limits = await createLimits({ memory: true, sweep: false })
  })
  afterAll(() => limits.close())
  countingSuite(() => limits)
  responseSuite(() => limits)

  it("counts the address that a trusted proxy forwards, and otherwise that of the proxy", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.9" }
    const keys: Array<string> = []
    const spied: Pick<Limits, "hit"> = {
      hit: (hit) => {
        keys.push(hit.key)
        return limits.hit(hit)
      }
    }
    const options = { limits: spied, policy: "proxied", limit: 100 }
    const handle: HttpServers.Handler = async () => ({ body: "hello" })
    for (const isTrusted of [false, true]) {
      const onExpress = await HttpServers.express((app) => {
        app.set("trust proxy", isTrusted ? "loopback" : false)
        app.use(expressRateLimit(options))
      }, handle)
      const onFastify = await HttpServers.fastify(
        (app) => app.addHook("onRequest", fastifyRateLimit(options)),
        handle,
        { trustProxy: isTrusted }
      )
      for (const url of [onExpress, onFastify]) await fetch(url, { headers: forwarded })
    }
    const [direct, proxied] = ["proxied/address/127.0.0.1", "proxied/address/203.0.113.9"]
    assert.deepStrictEqual(keys, [direct, direct, proxied, proxied])
  })

  it("passes no request over its limit because its response fails like a database", async () => {
    const failure = new StorageFailedError(
      new StorageError({ operation: "refused", reason: "unavailable", cause: undefined })
    )
    const decide = limiter({
      limits,
      policy: "refused",
      limit: 0,
      key: () => "ada",
      onError: "allow",
      refused: () => {
        throw failure
      }
    }, () => null)
    assert.strictEqual(await decide({}).catch((error: unknown) => error), failure)
  })

  it("passes the request of the framework to functions of the options, for every place of a middleware", async () => {
    const options = { limits, policy: "places", limit: 100 }
    const onFastify = createFastify()
    onFastify.addHook("onRequest", fastifyRateLimit({ ...options, key: ({ headers }) => headers["x-key"]?.toString() }))
    const limit = fastifyRateLimit({ ...options, key: (request: FastifyRequest) => request.url, cost: 2 })
    onFastify.get("/one", { preHandler: limit }, async () => "one")
    onFastify.get("/two", { preHandler: [fastifyRateLimit(options), limit] }, async () => "two")
    interface Env {
      readonly Variables: { readonly account: string }
    }
    const onHono = new Hono<Env>()
    onHono.use((c, next) => {
      c.set("account", "ada")
      return next()
    })
    onHono.use(honoRateLimit({ ...options, key: (c) => c.req.header("x-key") ?? "none" }))
    onHono.get("/one", honoRateLimit({ ...options, key: (c: Context<Env>) => c.get("account") }), (c) => c.text("one"))
    const url = await HttpServers.express((app) => {
      app.use(expressRateLimit({ ...options, key: ({ headers }) => headers["x-key"]?.toString() }))
      const key = (request: Request<{ account: string }>) => request.params.account
      app.get("/:account", expressRateLimit({ ...options, key }))
    }, async () => ({ body: "hello" }))
    const headers = [
      (await onFastify.inject("/one")).headers["ratelimit"],
      (await onFastify.inject("/two")).headers["ratelimit"],
      (await onHono.request("/one")).headers.get("ratelimit"),
      (await fetch(`${url}/bob`)).headers.get("ratelimit")
    ]
    await onFastify.close()
    assert.deepStrictEqual(headers.map((header) => header?.toString().split(", ").length), [2, 3, 2, 2])
  })

  it("keeps headers of earlier middleware in Hono when it refuses", async () => {
    const app = new Hono()
    app.use((c, next) => {
      c.header("x-request-id", "1")
      for (const cookie of ["a=1", "b=2"]) c.header("set-cookie", cookie, { append: true })
      return next()
    })
    app.use(honoRateLimit({ limits, policy: "earlier", limit: 0, key: () => "ada" }))
    const { headers, status } = await app.request("/")
    assert.deepStrictEqual([status, headers.get("x-request-id"), headers.getSetCookie()], [429, "1", ["a=1", "b=2"]])
  })

  it("needs a key in Hono on a platform without addresses", async () => {
    const responses = await Promise.all([undefined, () => "ada"].map(async (key) => {
      const app = new Hono()
      app.use(honoRateLimit({ limits, policy: "elsewhere", limit: 5, key }))
      app.get("/", (c) => c.text("hello"))
      app.onError((error, c) => c.text(error.message, 500))
      const response = await app.request("/")
      return [response.status, await response.text()]
    }))
    const message = "This platform has no address of the client: pass a key to the limit"
    assert.deepStrictEqual(responses, [[500, message], [200, "hello"]])
  })
})

it("rejects invalid options when it is created", () => {
  const limits = { hit: () => Promise.reject(new Error("unused")) }
  const message = (
    options: { policy?: string; limit?: number; cost?: number; window?: number; algorithm?: "tokenBucket" }
  ) => {
    try {
      limiter({ limits, policy: "api", limit: 1, ...options }, () => undefined)
      return ""
    } catch (error) {
      return String(error)
    }
  }
  assert.strictEqual(message({ limit: 0, cost: 1 }), "")
  assert.strictEqual(message({ policy: "a\"b" }), "TypeError: The policy \"a\\\"b\" is not a name")
  assert.match(message({ policy: "" }), /^TypeError: The policy/)
  assert.match(message({ limit: 1.5 }), /^TypeError: The limit of requests must be a whole number from 0, not 1\.5/)
  assert.match(message({ window: 999 }), /^TypeError: Expected a window of 1 second to 31 days/)
  assert.match(message({ limit: 1e12, algorithm: "tokenBucket" }), /^TypeError: A token bucket of 1000000000000 is too/)
  assert.match(message({ algorithm: "leaky" as "tokenBucket" }), /^TypeError: Unknown algorithm "leaky"/)
  assert.match(message({ algorithm: "valueOf" as "tokenBucket" }), /^TypeError: Unknown algorithm "valueOf"/)
  assert.match(message({ cost: 0 }), /^TypeError: The cost of requests must be a whole number from 1, not 0/)
})
