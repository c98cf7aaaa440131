/** Promises of the middleware, the same for every framework and storage. */
import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@kinora/persistence/StorageError"
import { once } from "node:events"
import { connect } from "node:net"
import type { Refusal } from "../../src/http.ts"
import { type Limits, StorageFailedError } from "../../src/promise.ts"
import { type Framework, frameworks } from "./frameworks.ts"

/** Declares the tests of counting, which depends on the storage. */
export const countingSuite = (limitsOf: () => Limits): void => {
  for (const framework of frameworks) {
    describe(`the middleware for ${framework.name}`, () => {
      it("accepts exactly the limit of 50 concurrent requests, and refuses the others before the handler", () =>
        withinMinute(async (policy) => {
          let handled = 0
          const url = await framework.start([{ limits: limitsOf(), policy, limit: 20 }], async () => {
            handled++
            return { body: "hello" }
          })
          const responses = await Promise.all(Array.from({ length: 50 }, () => get(url)))
          const accepted = responses.filter(({ status }) => status === 200)
          assert.deepStrictEqual([accepted.length, handled], [20, 20])
          const remaining = accepted.map(({ headers }) =>
            Number(/;r=([0-9]+);/.exec(headers.get("ratelimit") ?? "")?.[1])
          )
          assert.deepStrictEqual(remaining.toSorted((a, b) => a - b), Array.from({ length: 20 }, (_, n) => n))
          const refused = responses.filter(({ status }) => status === 429)
          assert.strictEqual(refused.length, 30)
          for (const { headers } of refused) assert.match(headers.get("ratelimit") ?? "", /;r=0;t=[1-9][0-9]?$/)
        }))

      it("counts each client for itself, and a key that the storage cannot hold by its digest", () =>
        withinMinute(async (policy) => {
          const key = (request: object) => framework.headerOf(request, "x-client")
          const url = await framework.start([{ limits: limitsOf(), policy, limit: 1, key }])
          const statusOf = async (headers: Record<string, string>) => (await get(url, headers)).status
          const long = "é".repeat(300)
          const statuses = [
            await statusOf({ "x-client": "ada" }),
            await statusOf({ "x-client": "bob" }),
            await statusOf({ "x-client": "ada" }),
            await statusOf({ "x-client": Buffer.from(long).toString("latin1") }),
            await statusOf({ "x-client": Buffer.from(long).toString("latin1") }),
            // Without a key, the address counts: a client that names it counts for itself.
            await statusOf({ "x-client": "127.0.0.1" }),
            await statusOf({}),
            await statusOf({})
          ]
          assert.deepStrictEqual(statuses, [200, 200, 429, 200, 429, 200, 200, 429])
        }))
    })
  }
}

/** Declares the tests of everything else. */
export const responseSuite = (limitsOf: () => Limits): void => {
  for (const framework of frameworks) {
    describe(`the middleware for ${framework.name}`, () => {
      headerTests(framework, limitsOf)
      optionTests(framework, limitsOf)
      failureTests(framework, limitsOf)
    })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const headerTests = ({ start }: Framework, limitsOf: () => Limits) => {
  it("sends the headers of the draft, and those before it if the option is set", () =>
    withinMinute(async (policy) => {
      const plain = await get(await start([{ limits: limitsOf(), policy, limit: 3 }]))
      assert.strictEqual(plain.headers.get("ratelimit-policy"), `"${policy}";q=3;w=60`)
      assert.match(plain.headers.get("ratelimit") ?? "", new RegExp(`^"${policy}";r=2;t=[1-9][0-9]?$`))
      assert.isNull(plain.headers.get("x-ratelimit-limit"))
      const url = await start([{ limits: limitsOf(), policy, limit: 3, legacyHeaders: true }])
      const { headers } = await get(url)
      assert.deepStrictEqual([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")], ["3", "1"])
      assert.strictEqual(Number(headers.get("x-ratelimit-reset")) % 60, 0)
    }))

  it("refuses with the problem of the draft, and Retry-After until the end of the minute", () =>
    withinMinute(async (policy) => {
      const url = await start([{ limits: limitsOf(), policy, limit: 0, legacyHeaders: true }])
      const response = await get(url)
      const seconds = Number(response.headers.get("retry-after"))
      assert.isTrue(seconds >= 1 && seconds <= 60)
      assert.deepStrictEqual(
        [response.type, response.headers.get("ratelimit"), response.headers.get("x-ratelimit-remaining")],
        ["application/problem+json", `"${policy}";r=0;t=${seconds}`, "0"]
      )
      assert.deepStrictEqual([response.status, JSON.parse(response.body)], [429, {
        type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
        title: "Too many requests",
        status: 429,
        detail: `At most 0 per minute. Retry after ${seconds} seconds.`,
        "violated-policies": [policy]
      }])
    }))

  it("sends the window of the limit, and refuses until the request fits, for every algorithm", () =>
    withinMinute(async (policy) => {
      const algorithms = ["fixedWindow", "slidingWindow", "tokenBucket"] as const
      const responses = await Promise.all(algorithms.map(async (algorithm) => {
        const options = {
          limits: limitsOf(),
          policy: `${policy}.${algorithm}`,
          limit: 2,
          window: 120_000,
          algorithm
        }
        const url = await start([options])
        return { policy: options.policy, all: [await get(url), await get(url), await get(url)] }
      }))
      for (const { all, policy } of responses) {
        assert.deepStrictEqual(all.map(({ status }) => status), [200, 200, 429])
        for (const { headers } of all) assert.strictEqual(headers.get("ratelimit-policy"), `"${policy}";q=2;w=120`)
        const [, , refused] = all
        assert.include(refused?.body, "At most 2 per 120 seconds.")
        const seconds = refused?.headers.get("retry-after")
        assert.strictEqual(refused?.headers.get("ratelimit"), `"${policy}";r=0;t=${seconds}`)
      }
      const secondsOf = (algorithm: number, response: number) =>
        Number(/;t=([0-9]+)$/.exec(responses[algorithm]?.all[response]?.headers.get("ratelimit") ?? "")?.[1])
      assert.isAtMost(secondsOf(0, 2), 120)
      // The hit leaves the window after two minutes, and up to a twentieth later.
      for (const response of [0, 1, 2]) assert.isTrue(secondsOf(1, response) >= 60 && secondsOf(1, response) <= 126)
      // Two hits are filled up in two minutes, and one in one.
      assert.isTrue(secondsOf(2, 1) > 60 && secondsOf(2, 1) <= 120)
      assert.isAtMost(secondsOf(2, 2), 60)
    }))

  it("lists every limit of a request, of which one may refuse it", () =>
    withinMinute(async (policy) => {
      const limits = limitsOf()
      const url = await start([{ limits, policy: `${policy}.a`, limit: 5 }, {
        limits,
        policy: `${policy}.b`,
        limit: 1
      }])
      const responses = [await get(url), await get(url)]
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 429])
      for (const { headers } of responses) {
        const policies = (headers.get("ratelimit-policy") ?? "").split(", ").toSorted()
        assert.deepStrictEqual(policies, [`"${policy}.a";q=5;w=60`, `"${policy}.b";q=1;w=60`])
        assert.lengthOf((headers.get("ratelimit") ?? "").split(", "), 2)
      }
    }))
}

const optionTests = ({ headerOf, start }: Framework, limitsOf: () => Limits) => {
  it("asks functions of the request for the limit and the cost, and whether to skip it", () =>
    withinMinute(async (policy) => {
      const url = await start([{
        limits: limitsOf(),
        policy,
        limit: async (request) => headerOf(request, "x-plan") === "pro" ? 10 : 3,
        cost: (request) => Number(headerOf(request, "x-cost") ?? 1),
        skip: async (request) => headerOf(request, "x-probe") !== undefined
      }])
      const probe = await get(url, { "x-probe": "1" })
      assert.deepStrictEqual([probe.status, probe.headers.get("ratelimit")], [200, null])
      const costly = await get(url, { "x-cost": "2" })
      assert.include(costly.headers.get("ratelimit") ?? "", ";r=1;")
      assert.strictEqual((await get(url, { "x-cost": "2" })).status, 429)
      const pro = await get(url, { "x-plan": "pro", "x-cost": "2" })
      assert.include(pro.headers.get("ratelimit") ?? "", ";r=6;")
    }))

  it("sends the response that the program returns for a refusal, with defaults", () =>
    withinMinute(async (policy) => {
      const refusals: Array<Refusal> = []
      const url = await start([{
        limits: limitsOf(),
        policy,
        limit: 0,
        refused: async (refusal) => {
          refusals.push(refusal)
          return { status: 420, headers: { "content-type": "text/plain" }, body: "slow down" }
        }
      }])
      const { body, headers, status, type } = await get(url)
      assert.deepStrictEqual([status, type, body], [420, "text/plain", "slow down"])
      const [refusal] = refusals
      if (refusal?.reason !== "limit") throw new Error("The refusal is not about the limit")
      assert.deepInclude(refusal, { policy, limit: 0, remaining: 0 })
      assert.strictEqual(headers.get("retry-after"), `${refusal.retryAfterSeconds}`)
      assert.strictEqual(refusal.resetsAt.getTime() % 60_000, 0)
    }))

  it("passes errors of functions of the program to the framework", async () => {
    const options = { limits: limitsOf(), policy: "errors", limit: 5 }
    const fail = () => {
      throw new Error("no session")
    }
    for (const failing of [{ key: fail }, { limit: fail }, { limit: () => Number.NaN }, { skip: async () => fail() }]) {
      assert.strictEqual((await get(await start([{ ...options, ...failing }]))).status, 500)
    }
  })
}

const failureTests = ({ start }: Framework, limitsOf: () => Limits) => {
  const error = new StorageFailedError(
    new StorageError({ operation: "RateLimitStore.take", reason: "unavailable", cause: new Error("Injected") })
  )
  const failing = { hit: () => Promise.reject(error) }

  it("refuses with 503 if the storage fails, unless the program allows the request", async () => {
    const options = { limits: failing, policy: "api", limit: 5 }
    const refused = await get(await start([options]))
    assert.deepStrictEqual([refused.status, refused.type, JSON.parse(refused.body)], [503, "application/problem+json", {
      type: "about:blank",
      title: "Service Unavailable",
      status: 503,
      detail: "The limit of requests cannot be checked now."
    }])
    const allowed = await get(await start([{ ...options, onError: "allow" }]))
    assert.deepStrictEqual([allowed.status, allowed.body, allowed.headers.get("ratelimit")], [200, "hello", null])
    const errors: Array<unknown> = []
    const url = await start([{ ...options, onError: (error) => errors.push(error) > 1 ? "allow" : "refuse" }])
    assert.deepStrictEqual([(await get(url)).status, (await get(url)).status, errors], [503, 200, [error, error]])
  })

  it("refuses with 503 if the storage does not respond in time, and with 500 after a bug", async () => {
    const hanging: Pick<Limits, "hit"> = {
      hit: ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)))
    }
    assert.strictEqual(
      (await get(await start([{ limits: hanging, policy: "api", limit: 5, timeout: 20 }]))).status,
      503
    )
    const broken = { hit: () => Promise.reject(new Error("a bug")) }
    const url = await start([{ limits: broken, policy: "api", limit: 5, onError: "allow" }])
    assert.strictEqual((await get(url)).status, 500)
  })

  it("counts requests whose handler fails", () =>
    withinMinute(async (policy) => {
      const url = await start([{ limits: limitsOf(), policy, limit: 1 }], () => Promise.reject(new Error("a bug")))
      assert.deepStrictEqual([(await get(url)).status, (await get(url)).status], [500, 429])
    }))

  it("counts a request whose client disconnects while it is counted, and serves others", () =>
    withinMinute(async (policy) => {
      const limits = limitsOf()
      const gate = Promise.withResolvers<void>()
      const arrived = Promise.withResolvers<void>()
      const counted = Promise.withResolvers<void>()
      const gated: Pick<Limits, "hit"> = {
        hit: async (hit) => {
          arrived.resolve()
          await gate.promise
          const verdict = await limits.hit(hit)
          counted.resolve()
          return verdict
        }
      }
      const { hostname, port } = new URL(await start([{ limits: gated, policy, limit: 2, timeout: 60_000 }]))
      const socket = connect(Number(port), hostname)
      await once(socket, "connect")
      socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
      await arrived.promise
      socket.destroy()
      await once(socket, "close")
      gate.resolve()
      await counted.promise
      const next = await get(`http://${hostname}:${port}`)
      assert.deepStrictEqual([next.status, next.headers.get("ratelimit")?.includes(";r=0;")], [200, true])
    }))
}

const get = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers })
  // Fastify adds the charset.
  const type = response.headers.get("content-type")?.replace("; charset=utf-8", "")
  return { status: response.status, headers: response.headers, type, body: await response.text() }
}

let policies = 0

/** Runs a test within one minute, since limits start anew with each minute. The body gets a policy of its own. */
const withinMinute = async (body: (policy: string) => Promise<void>): Promise<void> => {
  const began = currentMinute()
  const outcome = await body(`p${policies++}`).then(() => undefined, (error: unknown) => ({ error }))
  if (outcome === undefined) return
  if (began !== currentMinute()) return withinMinute(body)
  throw outcome.error
}

const currentMinute = () => Math.floor(Date.now() / 60_000)
