import { assert, it } from "@effect/vitest"
import { Generation } from "@kinora/http-api"
import { Budget, Places } from "@kinora/rate-limit"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { HttpServerOptions } from "../src/HttpServerOptions.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const bytes = new TextEncoder().encode("0123456789")

const openResult = Effect.fnUntraced(function*(options: Partial<HttpServerOptions>) {
  const send = yield* Host.start(options)
  const owner = yield* Host.openAccount()
  const { id } = yield* Host.addCompleted(owner.account, bytes)
  const file = (name: string, range?: string, method = "GET") =>
    send(method, `/v1/generations/${id}/${name}`, { key: owner.key, headers: range === undefined ? {} : { range } })
  return { file, id, send, ...owner }
})

const used = (key: string) => Budget.Budget.use((budget) => budget.used(key))

it.effect("counts sent bytes for the account and for the result", () =>
  Effect.gen(function*() {
    const { account, file, id } = yield* openResult({})
    yield* file("content")
    yield* file("content", "bytes=2-4")
    yield* file("thumb")
    assert.strictEqual(yield* used(`bytes:${account.id}`), 16)
    assert.strictEqual(yield* used(`downloads:${id}`), 13)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts nothing for HEAD, 304 and 416", () =>
  Effect.gen(function*() {
    const { account, file } = yield* openResult({})
    assert.strictEqual((yield* file("content", undefined, "HEAD")).status, 200)
    assert.strictEqual((yield* file("content", "bytes=99-")).status, 416)
    assert.strictEqual(yield* used(`bytes:${account.id}`), 0)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects downloads beyond the daily limit of a result until 00:00 UTC, including HEAD but not derived files", () =>
  Effect.gen(function*() {
    const { account, file } = yield* openResult({ resultDownloadMultiple: 2 })
    yield* file("content")
    yield* file("content", "bytes=0-4")
    const refused = yield* file("content")
    const { details, plan } = errorOf(refused, "download_limited")
    assert.deepStrictEqual([details, plan], [{ scope: "downloads" }, null])
    const seconds = 12 * 3600 - 30
    assert.strictEqual(refused.headers["retry-after"], String(seconds))
    assert.strictEqual(refused.headers["retry-after-ms"], String(seconds * 1000))
    assert.strictEqual(refused.headers["x-should-retry"], "false")
    assert.strictEqual((yield* file("content", undefined, "HEAD")).status, 429)
    assert.strictEqual((yield* file("content", "bytes=5-9")).status, 206)
    assert.strictEqual((yield* file("thumb")).status, 200)
    assert.strictEqual(yield* used(`bytes:${account.id}`), 23)
    yield* TestClock.adjust(`${seconds} seconds`)
    assert.strictEqual((yield* file("content")).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects downloads beyond the daily limit of the account", () =>
  Effect.gen(function*() {
    const { file, id } = yield* openResult({ downloadBytesPerDay: 12 })
    yield* file("content")
    const refused = yield* file("content", "bytes=0-2")
    assert.deepStrictEqual(errorOf(refused, "download_limited").details, { scope: "bytes" })
    assert.strictEqual(yield* used(`downloads:${id}`), 10)
    assert.strictEqual((yield* file("content", "bytes=0-1")).status, 206)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("leaves a share of the daily bytes to the keys of the account", () =>
  Effect.gen(function*() {
    const { account, file, id, key, send } = yield* openResult({ downloadBytesPerDay: 40, downloadLinkShare: 0.5 })
    const { json } = yield* send("GET", `/v1/generations/${id}`, { key })
    const link = new URL(Schema.decodeUnknownSync(Generation.Generation)(json).output?.url ?? "")
    const signed = send("GET", `${link.pathname}${link.search}`)
    for (const status of [200, 200]) assert.strictEqual((yield* signed).status, status)
    const refused = yield* signed
    assert.deepStrictEqual(errorOf(refused, "download_limited").details, { scope: "bytes" })
    assert.strictEqual(refused.headers["x-should-retry"], "false")
    assert.strictEqual((yield* file("content")).status, 200)
    assert.strictEqual((yield* file("content")).status, 200)
    assert.strictEqual(yield* used(`bytes:${account.id}`), 40)
    // Downloads with keys leave the share of signed URLs alone, but not the day of the account.
    yield* TestClock.adjust("12 hours")
    for (let n = 0; n < 3; n++) assert.strictEqual((yield* file("content")).status, 200)
    assert.strictEqual((yield* send("GET", `${link.pathname}${link.search}`)).status, 200)
    errorOf(yield* file("content"), "download_limited")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts and rejects the same for every block size", () =>
  Effect.forEach([1, 2, 4, 9, 10, 11], (downloadBlockBytes) =>
    Effect.gen(function*() {
      const { account, file, id } = yield* openResult({ downloadBlockBytes, downloadBytesPerDay: 15 })
      assert.strictEqual((yield* file("content")).status, 200)
      assert.strictEqual(yield* used(`bytes:${account.id}`), 10)
      // The first block fits, the whole download does not.
      errorOf(yield* file("content", "bytes=0-5"), "download_limited")
      errorOf(yield* file("content"), "download_limited")
      assert.strictEqual((yield* file("content", "bytes=4-8")).status, 206)
      assert.strictEqual(yield* used(`bytes:${account.id}`), 15)
      assert.strictEqual(yield* used(`downloads:${id}`), 15)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Host.layer)))))

it.effect("sends the thumbnails of a gallery in three tabs at once, while all places of results are taken", () =>
  Effect.gen(function*() {
    const { account, file, id, key, send } = yield* openResult({})
    const places = yield* Places.Places
    for (let n = 0; n < 8; n++) yield* places.acquire({ key: `streams:${account.id}`, max: 8 })
    errorOf(yield* file("content"), "download_limited")
    const gallery = 3 * 48
    const withKey = yield* Effect.all(Array.from({ length: gallery }, () => file("thumb")), {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(withKey.filter(({ status }) => status !== 200), [])

    const { json } = yield* send("GET", `/v1/generations/${id}`, { key })
    const link = new URL(Schema.decodeUnknownSync(Generation.Generation)(json).thumb_url ?? "")
    const signed = send("GET", `${link.pathname}${link.search}`)
    const withLink = yield* Effect.all(Array.from({ length: gallery }, () => signed), { concurrency: "unbounded" })
    assert.deepStrictEqual(withLink.filter(({ status }) => status !== 200), [])
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("limits concurrent downloads of smaller pictures apart from results", () =>
  Effect.gen(function*() {
    const { account, file } = yield* openResult({ downloadPicturesMax: 1 })
    const places = yield* Places.Places
    yield* Effect.gen(function*() {
      yield* places.acquire({ key: `pictures:${account.id}`, max: 1 })
      assert.deepStrictEqual(errorOf(yield* file("thumb"), "download_limited").details, { scope: "streams" })
      assert.strictEqual((yield* file("content")).status, 200)
    }).pipe(Effect.scoped)
    assert.strictEqual((yield* file("thumb")).status, 200)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("limits concurrent downloads of the account, and frees their places", () =>
  Effect.gen(function*() {
    const { account, file } = yield* openResult({ downloadStreamsMax: 1 })
    const places = yield* Places.Places
    yield* Effect.gen(function*() {
      yield* places.acquire({ key: `streams:${account.id}`, max: 1 })
      const refused = yield* file("content")
      assert.deepStrictEqual(errorOf(refused, "download_limited").details, { scope: "streams" })
      assert.strictEqual(refused.headers["retry-after"], "5")
      assert.notProperty(refused.headers, "x-should-retry")
    }).pipe(Effect.scoped)
    for (let n = 0; n < 3; n++) assert.strictEqual((yield* file("content")).status, 200)
    assert.strictEqual((yield* file("content", undefined, "HEAD")).status, 200)
    assert.strictEqual(yield* places.held(`streams:${account.id}`), 0)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
