import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Ref } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { readFile } from "node:fs/promises"
import { makePicture, withKey } from "../example/client.ts"

const generation = {
  id: "gen_1",
  model: "kinora-canvas-1",
  kind: "image",
  mode: "text_to_image",
  plan: "credits",
  status: "completed",
  prompt: "a lake",
  params: {},
  cost_credits: 8,
  quota_kind: null,
  watermark: false,
  refunded: false,
  error_code: null,
  error: null,
  output: { url: "https://api.test/1.png", mime: "image/png", bytes: 1, expires_at: "2026-11-22T12:00:00.000Z" },
  preview_url: null,
  thumb_url: null,
  poster_url: null,
  result_expires_at: "2026-11-22T12:00:00.000Z",
  queued_at: "2026-11-21T12:00:00.000Z",
  started_at: "2026-11-21T12:00:00.000Z",
  finished_at: "2026-11-21T12:00:00.000Z",
  created_at: "2026-11-21T12:00:00.000Z"
}

const limits = { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59", "x-ratelimit-reset": "1795262460" }

const refused = Response.json(
  { error: { code: "rate_limited", message: "Wait.", plan: "credits", details: { scope: "plan" } } },
  { status: 429, headers: { "retry-after": "30", "retry-after-ms": "29500" } }
)

const answers = [
  refused,
  Response.json(generation, { status: 201, headers: { location: "/1", "idempotent-replayed": "false", ...limits } }),
  Response.json(generation)
]

/** Answers in this order, and remembers what was asked. */
const scripted = (asked: Ref.Ref<ReadonlyArray<string>>) =>
  HttpClient.make((request, url) =>
    Ref.modify(asked, (before) => [
      HttpClientResponse.fromWeb(request, answers[before.length]!),
      [...before, `${request.method} ${url.href} ${request.headers["authorization"]}`]
    ])
  )

it.effect("the README's example runs, and waits as long as a limit says", () =>
  Effect.gen(function*() {
    const asked = yield* Ref.make<ReadonlyArray<string>>([])
    const picture = yield* makePicture("https://api.test", "a lake").pipe(
      Effect.provide(Layer.mergeAll(
        withKey(Redacted.make("kin_1")),
        Layer.succeed(HttpClient.HttpClient, scripted(asked))
      )),
      Effect.forkChild
    )
    yield* TestClock.adjust("29499 millis")
    assert.strictEqual((yield* Ref.get(asked)).length, 1)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(picture), "https://api.test/1.png")
    assert.deepStrictEqual(yield* Ref.get(asked), [
      "POST https://api.test/v1/generations Bearer kin_1",
      "POST https://api.test/v1/generations Bearer kin_1",
      "GET https://api.test/v1/generations/gen_1?wait=60 Bearer kin_1"
    ])
  }))

it.effect("the README shows the example as it runs", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    assert.include(yield* read("../README.md"), yield* read("../example/client.ts"))
  }))
