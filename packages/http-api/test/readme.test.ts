import { assert, it } from "@effect/vitest"
import { vi } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Ref } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { readFile } from "node:fs/promises"
import { createImage, withKey } from "../example/client.ts"

const generation = {
  id: "gen_1",
  model: "kinora-still",
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

/** Returns the responses in this order, and records the requests. */
const scripted = (asked: Ref.Ref<ReadonlyArray<string>>) =>
  HttpClient.make((request, url) =>
    Ref.modify(asked, (before) => [
      HttpClientResponse.fromWeb(request, answers[before.length]!),
      [...before, `${request.method} ${url.href} ${request.headers["authorization"]}`]
    ])
  )

it.effect("runs the README's example, which waits for a rate limit", () =>
  Effect.gen(function*() {
    const asked = yield* Ref.make<ReadonlyArray<string>>([])
    const image = yield* createImage("https://api.test", "a lake").pipe(
      Effect.provide(Layer.mergeAll(
        withKey(Redacted.make("kin_1")),
        Layer.succeed(HttpClient.HttpClient, scripted(asked))
      )),
      Effect.forkChild
    )
    yield* TestClock.adjust("29499 millis")
    assert.strictEqual((yield* Ref.get(asked)).length, 1)
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(image), "https://api.test/1.png")
    assert.deepStrictEqual(yield* Ref.get(asked), [
      "POST https://api.test/v1/generations Bearer kin_1",
      "POST https://api.test/v1/generations Bearer kin_1",
      "GET https://api.test/v1/generations/gen_1?wait=60 Bearer kin_1"
    ])
  }))

it.live("prints what the first example of the README shows", () =>
  Effect.gen(function*() {
    const log = vi.spyOn(console, "log").mockImplementation(() => {})
    yield* Effect.promise(() => import("../example/memory.ts"))
    const { calls } = log.mock
    const message = "The queue of the account is full; retry after a job has started."
    assert.deepStrictEqual(calls, [["2k", 429, "5", message]])
    log.mockRestore()
  }))

it.effect("shows the examples in the README as they run", () =>
  Effect.gen(function*() {
    const read = (path: string) => Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))
    const readme = yield* read("../README.md")
    assert.include(readme, yield* read("../example/memory.ts"))
    assert.include(readme, yield* read("../example/client.ts"))
  }))
