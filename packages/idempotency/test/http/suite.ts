/** Promises of the middleware, the same for every framework and storage. */
import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@kinora/persistence/StorageError"
import type { Answer } from "@kinora/testkit/HttpServers"
import { type Idempotency, StorageFailedError } from "../../src/promise.ts"
import { type Framework, frameworks } from "./frameworks.ts"
import { outcomeOf, post } from "./requests.ts"

/** Declares the tests that depend on the storage. */
export const storageSuite = (idempotencyOf: () => Idempotency): void => {
  for (const { name, start } of frameworks) {
    describe(`the middleware for ${name}`, () => {
      it("runs one of 50 concurrent requests with a key, and sends its response to all", async () => {
        let handled = 0
        const url = await start(
          { idempotency: idempotencyOf(), scope: `crowd/${name}`, wait: "1 minute" },
          async () => {
            handled++
            return { status: 201, headers: { "x-order": "u" }, body: `order ${handled}` }
          }
        )
        const responses = await Promise.all(Array.from({ length: 50 }, () => post(url)))
        assert.strictEqual(handled, 1)
        for (const { body, headers, status } of responses) {
          assert.deepStrictEqual([status, headers.get("x-order"), body], [201, "u", "order 1"])
          assert.strictEqual(headers.get("content-type"), responses[0]?.headers.get("content-type"))
        }
        assert.strictEqual(responses.filter(({ isReplay }) => isReplay).length, 49)
      })

      it("replays bytes as they were sent", async () => {
        const bytes = Uint8Array.from({ length: 1_000 }, (_, n) => n % 256)
        const url = await start({ idempotency: idempotencyOf(), scope: `bytes/${name}` }, async () => ({
          headers: { "content-type": "application/octet-stream" },
          body: chunksOf(bytes, 7)
        }))
        const headers = { "idempotency-key": "k-1" }
        for (const isReplay of [null, "true"]) {
          const response = await fetch(url, { method: "POST", headers })
          assert.strictEqual(response.headers.get("idempotent-replayed"), isReplay)
          assert.strictEqual(response.headers.get("content-type"), "application/octet-stream")
          assert.deepStrictEqual(await response.bytes(), bytes)
        }
      })
    })
  }
}

/** Declares the tests of everything else. */
export const behaviourSuite = (idempotencyOf: () => Idempotency): void => {
  for (const framework of frameworks) {
    describe(`the middleware for ${framework.name}`, () => {
      keyTests(framework, idempotencyOf)
      outcomeTests(framework, idempotencyOf)
      optionTests(framework, idempotencyOf)
      failureTests(framework, idempotencyOf)
    })
  }
}

/** Returns a scope that no other test has. */
export const newScope = (): string => `scope-${scopes++}`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

let scopes = 0

/** The chunks of a body. */
async function* chunksOf(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.slice(offset, offset + size)
}

const keyTests = ({ headerOf, name, start }: Framework, idempotencyOf: () => Idempotency) => {
  it("refuses a key with another body, path or method, and runs it in another scope", async () => {
    const scope = newScope()
    let handled = 0
    const url = await start({
      idempotency: idempotencyOf(),
      scope: (request) => `${scope}/${headerOf(request, "x-account") ?? ""}`
    }, async () => ({ status: 201, body: `order ${++handled}` }))
    const outcomes = [
      await post(url),
      await post(url, { json: { count: 2, item: "lamp" } }),
      await post(url, { json: { item: "chair", count: 2 } }),
      await post(`${url}/?draft=1`),
      await post(`${url}/orders`),
      await post(url, { method: "PATCH" }),
      await post(url, { headers: { "x-account": "bob" } }),
      await post(url, { key: "k-2" })
    ]
    const expected = ["201", "201 replayed", "422", "422", "422", "422", "201", "201"]
    assert.deepStrictEqual([outcomes.map(outcomeOf), handled], [expected, 3])
    assert.include(outcomes[2]?.headers.get("content-type") ?? "", "application/problem+json")
    assert.deepStrictEqual(JSON.parse(outcomes[2]?.body ?? ""), {
      type: "about:blank",
      title: "Idempotency-Key is already used",
      status: 422,
      detail: "The key belongs to a request with another method, path or body."
    })
  })

  it("runs requests without a key, and others than POST and PATCH, unless a key is required", async () => {
    let handled = 0
    const options = { idempotency: idempotencyOf(), scope: newScope() }
    const handle = async (): Promise<Answer> => ({ body: `${++handled}` })
    const url = await start(options, handle)
    for (const request of [{ key: undefined }, { method: "GET" }, { method: "PUT" }]) {
      assert.deepStrictEqual([await post(url, request), await post(url, request)].map(outcomeOf), ["200", "200"])
    }
    const strict = await start({ ...options, required: true, methods: ["POST", "PUT"] }, handle)
    const missing = await post(strict, { key: undefined })
    assert.deepStrictEqual([missing.status, (JSON.parse(missing.body) as { title: string }).title], [
      400,
      "Idempotency-Key is missing"
    ])
    const requests = [{ key: "k".repeat(256) }, { method: "PUT", key: undefined }, { method: "GET", key: undefined }]
    const responses = await Promise.all(requests.map((request) => post(strict, request)))
    assert.deepStrictEqual(responses.map(outcomeOf), ["400", "400", "200"])
    assert.deepStrictEqual(
      [await post(strict, { method: "PUT" }), await post(strict, { method: "PUT" })].map(outcomeOf),
      [
        "200",
        "200 replayed"
      ]
    )
    assert.strictEqual(handled, 8, name)
  })

  it("refuses a request with 409 and Retry-After while one with its key runs", async () => {
    const arrived = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const url = await start({ idempotency: idempotencyOf(), scope: newScope(), wait: 0 }, async () => {
      arrived.resolve()
      await mayEnd.promise
      return { body: "done" }
    })
    const first = post(url)
    await arrived.promise
    const second = await post(url)
    assert.deepStrictEqual([second.status, second.headers.get("retry-after")], [409, "1"])
    mayEnd.resolve()
    assert.deepStrictEqual([outcomeOf(await first), outcomeOf(await post(url))], ["200", "200 replayed"])
  })
}

const outcomeTests = ({ name, start }: Framework, idempotencyOf: () => Idempotency) => {
  it("replays refusals of the handler, and runs a request again after a failure or a temporary refusal", async () => {
    const outcomes: Array<Answer | Error> = []
    const url = await start({ idempotency: idempotencyOf(), scope: newScope() }, async () => {
      const outcome = outcomes.shift() ?? new Error("not expected")
      if (outcome instanceof Error) throw outcome
      return outcome
    })
    for (const temporary of [new Error("a bug"), { status: 503 }, { status: 429 }]) {
      outcomes.push(temporary, { status: 404, body: "no lamps" })
      const status = "status" in temporary ? `${temporary.status}` : "500"
      const key = `after ${status}`
      const got = [await post(url, { key }), await post(url, { key }), await post(url, { key })]
      assert.deepStrictEqual(got.map(outcomeOf), [status, "404", "404 replayed"])
      assert.strictEqual(got[2]?.body, "no lamps")
    }
  })

  it("stores the headers of the handler without cookies, and keeps those of other middleware", async () => {
    const url = await start({ idempotency: idempotencyOf(), scope: newScope() }, async () => ({
      status: 201,
      headers: { "location": "/orders/1", "set-cookie": "session=1", "ratelimit": "\"api\";r=1;t=1" },
      body: "created"
    }))
    const [first, replay] = [await post(url), await post(url)]
    const valuesOf = ({ headers }: { readonly headers: Headers }) =>
      ["location", "set-cookie", "ratelimit"].map((header) => headers.get(header))
    assert.deepStrictEqual(valuesOf(first), ["/orders/1", "session=1", "\"api\";r=1;t=1"])
    assert.deepStrictEqual([outcomeOf(replay), ...valuesOf(replay)], ["201 replayed", "/orders/1", null, null])
    const [before, after] = [first, replay].map(({ headers }) => Number(headers.get("x-request-id")))
    assert.isAbove(after ?? 0, before ?? 0)
  })

  it("replays a response without a body", async () => {
    const url = await start({ idempotency: idempotencyOf(), scope: newScope() }, async () => ({ status: 204 }))
    assert.deepStrictEqual([await post(url), await post(url)].map(outcomeOf), ["204", "204 replayed"])
  })

  it("sends a response that is too large to be stored, and does not run its request again", async () => {
    let handled = 0
    const bytes = new Uint8Array(100_000).fill(65)
    const url = await start({ idempotency: idempotencyOf(), scope: newScope(), sizeMax: 99_999 }, async () => {
      handled++
      return { body: chunksOf(bytes, 10_000) }
    })
    const first = await post(url)
    assert.deepStrictEqual([first.status, first.body.length], [200, 100_000])
    assert.deepStrictEqual([outcomeOf(await post(url)), handled], ["410", 1])
  })

  it("sends chunks before the response has ended", async () => {
    const mayEnd = Promise.withResolvers<void>()
    const url = await start({ idempotency: idempotencyOf(), scope: newScope() }, async () => ({
      body: (async function*() {
        yield new TextEncoder().encode("first ")
        await mayEnd.promise
        yield new TextEncoder().encode("second")
      })()
    }))
    const response = await fetch(url, { method: "POST", headers: { "idempotency-key": "k-1" } })
    const reader = response.body!.getReader()
    assert.strictEqual(new TextDecoder().decode((await reader.read()).value), "first ")
    mayEnd.resolve()
    assert.strictEqual(new TextDecoder().decode((await reader.read()).value), "second")
    assert.isTrue((await reader.read()).done)
    const replay = await fetch(url, { method: "POST", headers: { "idempotency-key": "k-1" } })
    assert.strictEqual(await replay.text(), "first second")
  })

  it("stores the response of a request whose client has disconnected", async () => {
    const arrived = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    let handled = 0
    const url = await start({ idempotency: idempotencyOf(), scope: newScope(), wait: "1 minute" }, async () => {
      handled++
      arrived.resolve()
      await mayEnd.promise
      return { status: 201, body: "created" }
    })
    const client = new AbortController()
    const first = post(url, { signal: client.signal }).then(outcomeOf, String)
    await arrived.promise
    client.abort()
    assert.match(await first, /AbortError/)
    const second = post(url)
    mayEnd.resolve()
    const got = await second
    assert.deepStrictEqual([outcomeOf(got), got.body, handled], ["201 replayed", "created", 1], name)
  })

  it("does not run a request again whose response was cut off", async () => {
    let handled = 0
    const never = new Promise<void>(() => {})
    const url = await start(
      { idempotency: idempotencyOf(), scope: newScope(), sizeMax: 10, wait: "1 minute" },
      async () => {
        handled++
        return {
          body: (async function*() {
            yield new TextEncoder().encode("more than ten bytes")
            await never
          })()
        }
      }
    )
    const client = new AbortController()
    const headers = { "idempotency-key": "k-1" }
    const response = await fetch(url, { method: "POST", headers, signal: client.signal })
    await response.body!.getReader().read()
    client.abort()
    const repeated = await fetch(url, { method: "POST", headers })
    assert.deepStrictEqual([repeated.status, handled], [410, 1])
  })
}

const optionTests = ({ headerOf, start }: Framework, idempotencyOf: () => Idempotency) => {
  it("asks functions of the request and of the status", async () => {
    let handled = 0
    const url = await start({
      idempotency: idempotencyOf(),
      scope: newScope(),
      skip: async (request) => headerOf(request, "x-probe") !== undefined,
      fingerprint: (request) => headerOf(request, "x-content") ?? null,
      window: () => "1 hour",
      isStored: (status) => status === 500,
      refused: async ({ reason }) => ({ body: reason, headers: [["x-reason", reason]] })
    }, async () => ({ status: handled++ === 0 ? 200 : 500, body: `${handled}` }))
    assert.deepStrictEqual(outcomeOf(await post(url)), "200")
    assert.deepStrictEqual(outcomeOf(await post(url)), "500")
    assert.deepStrictEqual(outcomeOf(await post(url, { json: { item: "chair" } })), "500 replayed")
    assert.deepStrictEqual(outcomeOf(await post(url, { headers: { "x-probe": "1" } })), "500")
    const refused = await post(url, { headers: { "x-content": "a" } })
    assert.deepStrictEqual([refused.status, refused.body, refused.headers.get("x-reason")], [422, "reused", "reused"])
  })

  it("passes errors of functions of the program to the framework", async () => {
    const fail = () => {
      throw new Error("no session")
    }
    const options = { idempotency: idempotencyOf(), scope: newScope() }
    const scopes = [{ scope: fail }, { scope: "" }, { scope: "s".repeat(129) }]
    for (const option of [...scopes, { skip: fail }, { fingerprint: fail }, { required: fail }, { window: fail }]) {
      const key = "required" in option ? undefined : "k-1"
      const url = await start({ ...options, ...option }, async () => ({ body: "not reached" }))
      assert.deepStrictEqual((await post(url, { key })).status, 500)
    }
    const url = await start({ ...options, wait: 0 }, async () => ({ body: "done" }))
    assert.strictEqual(outcomeOf(await post(url)), "200", "the key is free")
  })
}

const failureTests = ({ start }: Framework, idempotencyOf: () => Idempotency) => {
  const error = new StorageFailedError(
    new StorageError({ operation: "IdempotencyStore.find", reason: "unavailable", cause: new Error("Injected") })
  )
  const handle = async (): Promise<Answer> => ({ status: 201, body: "created" })

  it("refuses with 503 if the storage fails or hangs before the request, unless the program allows it", async () => {
    const options = { idempotency: { begin: () => Promise.reject(error) }, scope: newScope() }
    const refused = await post(await start(options, handle))
    assert.deepStrictEqual([refused.status, (JSON.parse(refused.body) as { title: string }).title], [
      503,
      "Service Unavailable"
    ])
    assert.strictEqual(outcomeOf(await post(await start({ ...options, onError: "allow" }, handle))), "201")
    const errors: Array<unknown> = []
    const onError = (error: unknown) => errors.push(error) > 1 ? "allow" : "refuse"
    const url = await start({ ...options, onError }, handle)
    assert.deepStrictEqual([await post(url), await post(url)].map(outcomeOf), ["503", "201"])
    assert.deepStrictEqual(errors, [error, error])
    const hanging: Pick<Idempotency, "begin"> = {
      begin: ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)))
    }
    const late = await start({ ...options, idempotency: hanging, wait: 0, timeout: 20 }, handle)
    assert.strictEqual(outcomeOf(await post(late)), "503")
    const broken = { begin: () => Promise.reject(new Error("a bug")) }
    const buggy = await start({ ...options, idempotency: broken, onError: "allow" }, handle)
    assert.strictEqual(outcomeOf(await post(buggy)), "500")
  })

  it("sends a response that cannot be stored, and reports the error", async () => {
    const idempotency = idempotencyOf()
    const failing: Pick<Idempotency, "begin"> = {
      begin: async (request) => {
        const begun = await idempotency.begin(request)
        if (begun._tag !== "First") return begun
        return { _tag: "First", request: { ...begun.request, complete: () => Promise.reject(error) } }
      }
    }
    const lost: Array<unknown> = []
    const onLost = (error: unknown) => {
      lost.push(error)
      throw new Error("a bug")
    }
    const url = await start({ idempotency: failing, scope: newScope(), onLost, wait: 0 }, handle)
    assert.deepStrictEqual([await post(url), await post(url)].map(outcomeOf), ["201", "409"])
    assert.deepStrictEqual(lost, [error])
  })

  it("ends a response after it is stored", async () => {
    const idempotency = idempotencyOf()
    const arrived = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const slow: Pick<Idempotency, "begin"> = {
      begin: async (request) => {
        const begun = await idempotency.begin(request)
        if (begun._tag !== "First") return begun
        const complete: typeof begun.request.complete = async (...args) => {
          arrived.resolve()
          await gate.promise
          await begun.request.complete(...args)
        }
        return { _tag: "First", request: { ...begun.request, complete } }
      }
    }
    // With its length, a client has the response before the end of the stream.
    const headers = { "content-length": "7" }
    const url = await start({ idempotency: slow, scope: newScope(), wait: 0 }, async () => ({
      ...await handle(),
      headers
    }))
    let hasEnded = false
    const first = post(url).finally(() => {
      hasEnded = true
    })
    await arrived.promise
    // A complete round trip, in which a response that does not wait would have arrived.
    assert.deepStrictEqual([outcomeOf(await post(url)), hasEnded], ["409", false])
    gate.resolve()
    assert.deepStrictEqual([outcomeOf(await first), outcomeOf(await post(url))], ["201", "201 replayed"])
  })
}
