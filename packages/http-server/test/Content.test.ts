import { assert, it } from "@effect/vitest"
import * as GenerationStore from "@kinora/generations/GenerationStore"
import { Budget, Places } from "@kinora/rate-limit"
import { BlobStore } from "@kinora/storage"
import { DateTime, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { errorOf, limitOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const bytes = new TextEncoder().encode("0123456789")

/** A completed job, its path, and the query of its signed URL. */
const openResult = Effect.fnUntraced(function*(content: Uint8Array = bytes) {
  const send = yield* Host.start()
  const owner = yield* Host.openAccount()
  const { id } = yield* Host.addCompleted(owner.account, content)
  const { json } = yield* send("GET", `/v1/generations/${id}`, { key: owner.key })
  const { output } = json as { readonly output: { readonly url: string } }
  const { pathname, search } = new URL(output.url)
  return { send, ...owner, id, path: pathname, signed: `${pathname}${search}` }
})

it.effect("sends the whole result with its headers, by key and by signed URL", () =>
  Effect.gen(function*() {
    const { id, key, path, send, signed } = yield* openResult()
    for (const answer of [yield* send("GET", path, { key }), yield* send("GET", signed)]) {
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.text, "0123456789")
      assert.deepInclude(answer.headers, {
        "content-type": "image/png",
        "content-length": "10",
        "accept-ranges": "bytes",
        "etag": "\"84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882\"",
        "last-modified": "Sat, 21 Nov 2026 12:00:30 GMT",
        "cache-control": "private, max-age=86400",
        "content-disposition": `inline; filename="${id}.png"`,
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "cross-origin",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, " +
          "Idempotent-Replayed, Location, Retry-After, retry-after-ms, X-RateLimit-Limit, X-RateLimit-Remaining, " +
          "X-RateLimit-Reset, X-Request-Id, x-should-retry"
      })
      assert.notProperty(answer.headers, "content-range")
    }
    assert.strictEqual(limitOf(yield* send("GET", path, { key })).limit, 300)
    assert.strictEqual(limitOf(yield* send("GET", signed)).limit, 60)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

const part = (text: string, contentRange: string) => ({ status: 206, text, contentRange })
const whole = { status: 200, text: "0123456789", contentRange: undefined }
const unsatisfiable = { status: 416, text: undefined, contentRange: "bytes */10" }

const ranges = [
  ["bytes=0-0", part("0", "bytes 0-0/10")],
  ["bytes=0-1", part("01", "bytes 0-1/10")],
  ["bytes=2-4", part("234", "bytes 2-4/10")],
  ["bytes=5-", part("56789", "bytes 5-9/10")],
  ["bytes=9-9", part("9", "bytes 9-9/10")],
  ["bytes=8-99", part("89", "bytes 8-9/10")],
  ["bytes=0-", part("0123456789", "bytes 0-9/10")],
  ["bytes=-3", part("789", "bytes 7-9/10")],
  ["bytes=-99", part("0123456789", "bytes 0-9/10")],
  ["bytes=10-", unsatisfiable],
  ["bytes=99-100", unsatisfiable],
  ["bytes=-0", unsatisfiable],
  ["bytes=4-2", whole],
  ["bytes=", whole],
  ["bytes=a-b", whole],
  ["items=0-1", whole],
  ["bytes=0-1,3-4", whole]
] as const

it.effect("follows RFC 9110 for every form of Range", () =>
  Effect.gen(function*() {
    const { send, signed } = yield* openResult()
    for (const [range, expected] of ranges) {
      const answer = yield* send("GET", signed, { headers: { range } })
      assert.strictEqual(answer.status, expected.status, range)
      assert.strictEqual(answer.headers["content-range"], expected.contentRange, range)
      if (expected.text === undefined) {
        assert.deepStrictEqual(errorOf(answer, "range_not_satisfiable").details, { bytes: 10 })
      } else {
        assert.strictEqual(answer.text, expected.text, range)
        assert.strictEqual(answer.headers["content-length"], String(expected.text.length), range)
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns an empty result with 200, and rejects every range of it", () =>
  Effect.gen(function*() {
    const { send, signed } = yield* openResult(new Uint8Array(0))
    const answer = yield* send("GET", signed)
    assert.deepStrictEqual([answer.status, answer.text, answer.headers["content-length"]], [200, "", "0"])
    const ranged = yield* send("GET", signed, { headers: { range: "bytes=0-" } })
    errorOf(ranged, "range_not_satisfiable")
    assert.strictEqual(ranged.headers["content-range"], "bytes */0")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("opens the file of a download once, and rejects the download if the file is too short or missing", () =>
  Effect.gen(function*() {
    const calls: Array<string> = []
    const send = yield* Effect.updateService(Host.start(), BlobStore.BlobStore, (blobs) => ({
      ...blobs,
      head: (key) => Effect.suspend(() => (calls.push("head"), blobs.head(key))),
      get: (key, range) => Stream.suspend(() => (calls.push("get"), blobs.get(key, range)))
    }))
    const { account, key } = yield* Host.openAccount()
    const { id } = yield* Host.addCompleted(account, bytes)
    const file = (method: string, headers = {}) => send(method, `/v1/generations/${id}/content`, { key, headers })
    assert.strictEqual((yield* file("GET")).text, "0123456789")
    assert.strictEqual((yield* file("GET", { range: "bytes=2-4" })).text, "234")
    assert.strictEqual((yield* file("HEAD")).status, 200)
    assert.deepStrictEqual(calls, ["get", "get", "head"])

    const blobs = yield* BlobStore.BlobStore
    yield* blobs.put(`${id}/content`, Stream.make(bytes.subarray(0, 9)), { bytesMax: 10, contentType: "image/png" })
    errorOf(yield* file("GET"), "internal_error")
    assert.strictEqual((yield* file("GET", { range: "bytes=2-4" })).text, "234")
    yield* blobs.delete([`${id}/content`])
    errorOf(yield* file("GET", { range: "bytes=2-4" }), "internal_error")
    assert.strictEqual((yield* file("HEAD")).status, 500)
    // The rejected downloads hold no place, and their bytes do not count.
    assert.strictEqual(yield* Places.Places.use((places) => places.held(`streams:${account.id}`)), 0)
    assert.strictEqual(yield* Budget.Budget.use((budget) => budget.used(`bytes:${account.id}`)), 16)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("evaluates If-None-Match, If-Modified-Since and If-Range", () =>
  Effect.gen(function*() {
    const { send, signed } = yield* openResult()
    const etag = (yield* send("HEAD", signed)).headers["etag"]!
    const get = (headers: Readonly<Record<string, string>>) => send("GET", signed, { headers })

    const same = yield* get({ "if-none-match": `"other", ${etag}` })
    assert.deepStrictEqual([same.status, same.text, same.headers["etag"]], [304, "", etag])
    assert.strictEqual(same.headers["cache-control"], "private, max-age=86400")
    assert.strictEqual((yield* get({ "if-none-match": "\"other\"" })).status, 200)
    assert.strictEqual((yield* get({ "if-modified-since": "Sat, 21 Nov 2026 12:00:30 GMT" })).status, 304)
    assert.strictEqual((yield* get({ "if-modified-since": "Sat, 21 Nov 2026 12:00:29 GMT" })).status, 200)

    const range = "bytes=0-1"
    assert.strictEqual((yield* get({ range, "if-range": etag })).status, 206)
    assert.strictEqual((yield* get({ range, "if-range": "\"other\"" })).status, 200)
    assert.strictEqual((yield* get({ range, "if-range": `W/${etag}` })).status, 200)
    assert.strictEqual((yield* get({ range, "if-none-match": etag })).status, 304)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("evaluates If-Match and If-Unmodified-Since before the other conditions", () =>
  Effect.gen(function*() {
    const { send, signed } = yield* openResult()
    const etag = (yield* send("HEAD", signed)).headers["etag"]!
    const get = (headers: Readonly<Record<string, string>>) => send("GET", signed, { headers })

    errorOf(yield* get({ "if-match": "\"other\"", "if-none-match": etag }), "precondition_failed")
    errorOf(yield* get({ "if-match": `W/${etag}`, "range": "bytes=0-1" }), "precondition_failed")
    errorOf(yield* get({ "if-unmodified-since": "Sat, 21 Nov 2026 12:00:29 GMT" }), "precondition_failed")
    assert.strictEqual((yield* send("HEAD", signed, { headers: { "if-match": "\"other\"" } })).status, 412)
    assert.strictEqual((yield* get({ "if-match": etag, "if-none-match": etag })).status, 304)
    assert.strictEqual((yield* get({ "if-match": "*", "range": "bytes=0-1" })).status, 206)
    assert.strictEqual((yield* get({ "if-unmodified-since": "Sat, 21 Nov 2026 12:00:30 GMT" })).status, 200)
    assert.strictEqual((yield* get({ "if-unmodified-since": "yesterday" })).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("responds to HEAD like to GET, without Range and without a body", () =>
  Effect.gen(function*() {
    const { path, send, signed } = yield* openResult()
    const answer = yield* send("HEAD", signed, { headers: { range: "bytes=0-1" } })
    assert.deepStrictEqual([answer.status, answer.text, answer.headers["content-length"]], [200, "", "10"])
    assert.notProperty(answer.headers, "content-range")
    const refused = yield* send("HEAD", path)
    assert.deepStrictEqual([refused.status, refused.text], [401, ""])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends an attachment if download=1, also with a signed URL", () =>
  Effect.gen(function*() {
    const { id, send, signed } = yield* openResult()
    const answer = yield* send("GET", `${signed}&download=1`)
    assert.strictEqual(answer.headers["content-disposition"], `attachment; filename="${id}.png"`)
    const inline = yield* send("GET", `${signed}&download=0`)
    assert.strictEqual(inline.headers["content-disposition"], `inline; filename="${id}.png"`)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("serves the derived files that exist", () =>
  Effect.gen(function*() {
    const { id, key, send } = yield* openResult()
    const thumb = yield* send("GET", `/v1/generations/${id}/thumb`, { key })
    assert.deepStrictEqual([thumb.status, thumb.text, thumb.headers["content-type"]], [200, "012", "image/webp"])
    assert.strictEqual(thumb.headers["content-disposition"], `inline; filename="${id}-thumb.webp"`)
    errorOf(yield* send("GET", `/v1/generations/${id}/poster`, { key }), "result_not_found")
    errorOf(yield* send("GET", `/v1/generations/${id}/preview`, { key }), "result_not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a wrong signature with 401, and counts it as a failed authentication", () =>
  Effect.gen(function*() {
    const { id, path, send, signed } = yield* openResult()
    const wrong = [
      `${signed}x`,
      signed.replace("exp=1", "exp=2"),
      `${path}?exp=1795348830&sig=`,
      signed.replace("/content", "/thumb"),
      signed.replace(id, "gen_00000000000000000000000000")
    ]
    for (const [index, url] of wrong.entries()) {
      const answer = yield* send("GET", url)
      errorOf(answer, "invalid_signature")
      assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
      assert.strictEqual(limitOf(answer).remaining, 59 - index)
    }
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 410 for an expired signature of a deleted result, without counting it", () =>
  Effect.gen(function*() {
    const { send, signed } = yield* openResult()
    yield* TestClock.adjust("24 hours")
    const answer = yield* send("GET", signed)
    assert.deepStrictEqual(errorOf(answer, "result_expired").details, { expired_at: "2026-11-22T12:00:30.000Z" })
    assert.strictEqual(limitOf(answer).remaining, 60)
    const withWrongKey = yield* send("GET", signed, { key: "kin_wrong" })
    errorOf(withWrongKey, "result_expired")
    assert.strictEqual(limitOf(withWrongKey).remaining, 59)
    errorOf(yield* send("GET", `${signed}x`), "invalid_signature")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 410 for an expired signature of a deleted job, and 404 with a key", () =>
  Effect.gen(function*() {
    const { key, path, send, signed } = yield* openResult()
    const store = yield* GenerationStore.GenerationStore
    yield* TestClock.adjust("24 hours")
    const now = yield* DateTime.now
    yield* store.clearOutput((yield* store.expired(now, 10)).map(({ id }) => id))
    assert.strictEqual(yield* store.deleteEnded(now, 10), 1)
    const { details } = errorOf(yield* send("GET", signed), "result_expired")
    assert.deepStrictEqual(details, { expired_at: "2026-11-22T12:00:30.000Z" })
    errorOf(yield* send("GET", `${signed}x`), "invalid_signature")
    errorOf(yield* send("GET", path, { key }), "not_found")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects exp without sig with 400, and missing credentials with 401", () =>
  Effect.gen(function*() {
    const { path, send, signed } = yield* openResult()
    errorOf(yield* send("GET", `${path}?exp=1795348830`), "invalid_params")
    errorOf(yield* send("GET", `${path}?sig=abc`), "invalid_params")
    errorOf(yield* send("GET", `${signed}&exp=1`), "invalid_params")
    errorOf(yield* send("GET", path), "unauthorized")
    errorOf(yield* send("GET", path, { key: "kin_wrong" }), "unauthorized")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("accepts a valid key or a valid signature, whatever the other is", () =>
  Effect.gen(function*() {
    const { key, path, send, signed } = yield* openResult()
    const other = yield* Host.openAccount({ email: "other@example.com" })
    assert.strictEqual((yield* send("GET", signed, { key: "kin_wrong" })).status, 200)
    assert.strictEqual((yield* send("GET", signed, { key: other.key })).status, 200)
    assert.strictEqual((yield* send("GET", `${signed}x`, { key })).status, 200)
    assert.strictEqual((yield* send("GET", `${path}?exp=1&sig=x`, { key })).status, 200)
    errorOf(yield* send("GET", `${signed}x`, { key: other.key }), "not_found")
    errorOf(yield* send("GET", `${signed}x`, { key: "kin_wrong" }), "invalid_signature")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("returns 409 before completion, 404 for a cancelled job and 410 after expiry", () =>
  Effect.gen(function*() {
    const { key, path, send } = yield* openResult()
    const body = { plan: "credits", model: "kinora-still", params: { prompt: "a sea" } }
    const created = (yield* send("POST", "/v1/generations", { key, body })).json as { readonly id: string }
    const waiting = yield* send("GET", `/v1/generations/${created.id}/content`, { key })
    assert.deepStrictEqual(errorOf(waiting, "result_not_ready").details, { status: "queued" })
    yield* send("POST", `/v1/generations/${created.id}/cancel`, { key })
    const cancelled = yield* send("GET", `/v1/generations/${created.id}/content`, { key })
    assert.deepStrictEqual(errorOf(cancelled, "result_not_found").details, { status: "cancelled" })
    yield* TestClock.adjust("24 hours")
    const expired = errorOf(yield* send("GET", path, { key }), "result_expired")
    assert.deepStrictEqual(expired.details, { expired_at: "2026-11-22T12:00:30.000Z" })
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
