import { assert, it } from "@effect/vitest"
import { Accounts } from "@kinora/accounts"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Host from "./Host.ts"

/** The parts of a response that are the same in both ways: all but the headers that differ between equal requests. */
const shapeOf = ({ headers, json, status }: Host.Answer) => {
  const { "x-ratelimit-remaining": _remaining, "x-request-id": _id, ...same } = headers
  return { status, headers: same, json }
}

/** Sends a request directly, and through the router, to which a query leads. Returns the status of both. */
const sendBoth = Effect.fnUntraced(function*(
  send: Effect.Success<ReturnType<typeof Host.start>>,
  ...[method, path, sent]: Parameters<Effect.Success<ReturnType<typeof Host.start>>>
) {
  const direct = yield* send(method, path, sent)
  const routed = yield* send(method, `${path}?`, sent)
  assert.deepStrictEqual(shapeOf(direct), shapeOf(routed))
  return direct.status
})

it.effect("responds to a request for a job as the router does", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ keyRequestsPerMinute: 9, corsOrigins: ["https://app.example.com"] })
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new Uint8Array(5))
    const path = `/v1/generations/${id}`
    assert.strictEqual(yield* sendBoth(send, "GET", path, { key }), 200)
    assert.strictEqual(
      yield* sendBoth(send, "GET", path, { key, headers: { origin: "https://app.example.com" } }),
      200
    )
    assert.strictEqual(yield* sendBoth(send, "HEAD", path, { key }), 200)
    assert.strictEqual(yield* sendBoth(send, "GET", "/v1/generations/a%20b", { key }), 404)
    assert.strictEqual(yield* sendBoth(send, "GET", path), 401)
    assert.strictEqual(yield* sendBoth(send, "GET", path, { key: "kin_wrong" }), 401)
    assert.strictEqual(yield* sendBoth(send, "GET", path, { headers: { authorization: "Basic a2V5" } }), 401)
    assert.strictEqual((yield* send("GET", path, { key })).status, 200)
    assert.strictEqual(yield* sendBoth(send, "GET", path, { key }), 429)
    yield* TestClock.adjust("1 minute")
    const { suspend } = yield* Accounts.Accounts
    yield* suspend(account.id)
    assert.strictEqual(yield* sendBoth(send, "GET", path, { key }), 403)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds to a request for a new job as the router does", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ keyRequestsPerMinute: 40, corsOrigins: ["https://app.example.com"] })
    const { account, key } = yield* Host.openAccount()
    const path = "/v1/generations"
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a lake" } }
    const create = (headers: Readonly<Record<string, string>>, sent: unknown = body) =>
      sendBoth(send, "POST", path, { key, headers, body: sent })
    assert.strictEqual((yield* send("POST", path, { key, headers: { "idempotency-key": "a" }, body })).status, 201)
    assert.strictEqual(yield* create({ "idempotency-key": "a" }), 200)
    assert.strictEqual(yield* create({ "idempotency-key": "a", "origin": "https://app.example.com" }), 200)
    assert.strictEqual(yield* create({ "idempotency-key": "a" }, { ...body, params: { prompt: "a hill" } }), 422)
    assert.strictEqual(yield* create({ "idempotency-key": "k".repeat(256) }), 400)
    assert.strictEqual(yield* create({ "content-type": "text/plain" }), 415)
    assert.strictEqual(yield* create({}, { ...body, model: "unknown" }), 404)
    assert.strictEqual(yield* create({}, { ...body, unknown: 1 }), 400)
    assert.strictEqual(yield* create({}, {}), 400)
    assert.strictEqual(yield* sendBoth(send, "POST", path, { body }), 401)
    assert.strictEqual(yield* sendBoth(send, "POST", path, { key: "kin_wrong", body }), 401)
    assert.strictEqual(yield* sendBoth(send, "POST", path, { key, headers: { "content-length": "3" } }), 400)
    const { suspend } = yield* Accounts.Accounts
    yield* suspend(account.id)
    assert.strictEqual(yield* create({ "idempotency-key": "a" }), 403)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds to a download through a signed URL as the router does", () =>
  Effect.gen(function*() {
    const send = yield* Host.start({ resultDownloadMultiple: 2 })
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, new TextEncoder().encode("0123456789"))
    const { json } = yield* send("GET", `/v1/generations/${id}`, { key })
    const { pathname, search } = new URL(
      (json as { readonly output: { readonly url: string } }).output.url
    )
    const signed = `${pathname}${search}`
    /** Sends a request directly, and with another query, which leads to the router. Returns status and body of both. */
    const download = Effect.fnUntraced(function*(url: string, headers: Readonly<Record<string, string>> = {}) {
      const direct = yield* send("GET", url, { headers })
      const routed = yield* send("GET", `${url}&download=0`, { headers })
      assert.deepStrictEqual(shapeOf(direct), shapeOf(routed))
      assert.strictEqual(direct.headers["x-ratelimit-remaining"], routed.headers["x-ratelimit-remaining"])
      assert.strictEqual(direct.text, routed.text)
      return [direct.status, direct.text]
    })
    assert.deepStrictEqual(yield* download(signed, { range: "bytes=2-4" }), [206, "234"])
    assert.deepStrictEqual(yield* download(signed, { origin: "https://app.example.com", range: "bytes=0-0" }), [
      206,
      "0"
    ])
    assert.strictEqual((yield* download(signed, { range: "bytes=10-" }))[0], 416)
    assert.deepStrictEqual(yield* download(signed, { "if-none-match": "*" }), [304, ""])
    assert.strictEqual((yield* download(signed, { "if-match": "\"other\"" }))[0], 412)
    assert.strictEqual((yield* send("GET", signed)).status, 200)
    assert.strictEqual((yield* download(signed))[0], 429)
    // The signature of one file is none of another.
    assert.strictEqual((yield* send("GET", signed.replace("/content", "/thumb"))).status, 401)
    assert.strictEqual((yield* send("GET", signed.replace(/..$/, "xx"))).status, 401)
    const { suspend } = yield* Accounts.Accounts
    yield* suspend(account.id)
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual((yield* download(signed))[0], 403)
    yield* TestClock.adjust("24 hours")
    assert.strictEqual((yield* download(signed))[0], 410)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
