/** The downloads of a result that are a part of responses of the image endpoint. */
import { assert, it } from "@effect/vitest"
import { StorageError } from "@kinora/persistence/StorageError"
import { Budget } from "@kinora/rate-limit"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { HttpServerOptions } from "../src/HttpServerOptions.ts"
import { errorOf } from "./Envelope.ts"
import * as Host from "./Host.ts"

const bytes = Uint8Array.from({ length: 1_000 }, (_, n) => n)

/** Serves an account, and completes a job of the image endpoint while its request waits. */
const open = Effect.fnUntraced(function*(options: Partial<HttpServerOptions> = {}) {
  const send = yield* Host.start(options)
  const { account, key, keyId } = yield* Host.openAccount()
  const ask = (format = "b64_json") =>
    send("POST", "/v1/images/generations", {
      key,
      body: { model: "kinora-still", prompt: "a lake", plan: "credits", response_format: format },
      headers: { "idempotency-key": format }
    })
  /** The first response. `before` runs when the job exists and has not ended. */
  const first = Effect.fnUntraced(function*(
    before: (id: string) => Effect.Effect<unknown, StorageError, Budget.Budget> = () => Effect.void,
    format?: string
  ) {
    const fiber = yield* Effect.forkChild(ask(format))
    yield* Host.held("images", keyId, 1)
    const { id } = yield* Host.newest(account)
    yield* before(id)
    yield* Host.complete(id, bytes)
    const answer = yield* Fiber.join(fiber)
    return { answer, id, content: send("GET", `/v1/generations/${id}/content`, { key }) }
  })
  return { account, ask, first }
})

const used = (key: string) => Budget.Budget.use((budget) => budget.used(key))

/** Uses up what a result can be downloaded on a day. */
const useUp = (id: string) =>
  Budget.Budget.use(({ reserve }) => reserve({ key: `downloads:${id}`, limit: 1e9, amount: 1e6 }))

const isImage = ({ json, status }: Host.Answer) => {
  const { data: [image] } = Schema.decodeUnknownSync(Response)(json)
  assert.deepStrictEqual([status, image.b64_json], [200, btoa(String.fromCharCode(...bytes))])
}

const Response = Schema.Struct({ data: Schema.Tuple([Schema.Struct({ b64_json: Schema.String })]) })

it.effect("counts each response in base64 as a download of the result, and none of the account", () =>
  Effect.gen(function*() {
    const { account, ask, first } = yield* open()
    const { answer, content, id } = yield* first()
    isImage(answer)
    assert.strictEqual(yield* used(`downloads:${id}`), 1_000)
    isImage(yield* ask())
    assert.strictEqual(yield* used(`downloads:${id}`), 2_000)
    assert.strictEqual(yield* used(`bytes:${account.id}`), 0)
    yield* content
    assert.strictEqual(yield* used(`downloads:${id}`), 3_000)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("counts no response with a URL", () =>
  Effect.gen(function*() {
    const { ask, first } = yield* open({ resultDownloadMultiple: 1 })
    const { answer, id } = yield* first(undefined, "url")
    assert.strictEqual((yield* ask("url")).text, answer.text)
    assert.strictEqual(yield* used(`downloads:${id}`), 0)
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("rejects a replay beyond the daily limit of the result until 00:00 UTC", () =>
  Effect.gen(function*() {
    const { ask, first } = yield* open({ resultDownloadMultiple: 2 })
    const { content } = yield* first()
    isImage(yield* ask())
    const refused = yield* ask()
    const { details, plan } = errorOf(refused, "download_limited")
    assert.deepStrictEqual([refused.status, details, plan], [429, { scope: "downloads" }, null])
    const seconds = 12 * 3600 - 30
    assert.strictEqual(refused.headers["retry-after"], String(seconds))
    assert.strictEqual(refused.headers["retry-after-ms"], String(seconds * 1000))
    assert.strictEqual(refused.headers["x-should-retry"], "false")
    errorOf(yield* content, "download_limited")
    yield* TestClock.adjust(`${seconds} seconds`)
    isImage(yield* ask())
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends and counts the first response although the limit of the result is reached", () =>
  Effect.gen(function*() {
    const { ask, first } = yield* open()
    const { answer, id } = yield* first(useUp)
    isImage(answer)
    assert.strictEqual(yield* used(`downloads:${id}`), 1_001_000)
    errorOf(yield* ask(), "download_limited")
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))

it.effect("sends the first response while downloads cannot be counted, and rejects replays like downloads", () =>
  Effect.gen(function*() {
    let isAway = false
    const budget = yield* Budget.Budget
    const away = new StorageError({ operation: "test", reason: "unavailable", cause: undefined })
    const { ask, first } = yield* open().pipe(
      Effect.provideService(Budget.Budget, {
        ...budget,
        reserveAll: (requests) => Effect.suspend(() => isAway ? Effect.fail(away) : budget.reserveAll(requests))
      })
    )
    const { answer, content } = yield* first(() => Effect.sync(() => isAway = true))
    isImage(answer)
    for (const refused of [yield* ask(), yield* content]) {
      errorOf(refused, "unavailable")
      assert.strictEqual(refused.status, 503)
    }
    isAway = false
    isImage(yield* ask())
  }).pipe(Effect.scoped, Effect.provide(Host.layer)))
