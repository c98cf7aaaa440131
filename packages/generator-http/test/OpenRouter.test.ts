import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { openRouter } from "@kinora/testkit/upstreams/OpenRouterServer"
import { upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, Stream } from "effect"
import driver from "../src/OpenRouter.ts"
import * as Contract from "./ProtocolContract.ts"

const request = (id: string, rest: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: {
    name: "veo",
    options: {
      model: "google/veo-3.1",
      input: { generate_audio: false },
      bindings: [{ to: "duration", from: "duration" }, { to: "seed", from: "seed" }]
    }
  },
  kind: "video",
  mode: "text_to_video",
  prompt: "a lake at night",
  params: { duration: 4 },
  images: [],
  format: "mp4",
  seed: 7,
  ...rest
})

const start = Effect.map(openRouter, (server) => ({
  server,
  openRouter: server,
  options: { base_url: `${server.origin}/api/v1`, api_key: Contract.apiKey },
  jobs: () => server.videos.size,
  finish: () => {
    server.content.file = { mime: "video/mp4", bytes: Contract.resultBytes }
    server.change({ status: "completed" })
  },
  fail: () => server.change({ status: "failed", error: upstreamText }),
  confuse: () => server.change({ status: "transcoding" }),
  restart: () => server.videos.clear()
}))

Contract.suite({
  name: "OpenRouter",
  driver,
  resubmit: "unsafe",
  lines: { submit: "POST /api/v1/videos", poll: /^GET \/api\/v1\/videos\/[^/]+$/, result: /^GET \S+\/content/ },
  mime: "video/mp4",
  whenLost: "Permanent",
  canCancel: false,
  imageMode: "image_to_video",
  request,
  start
})

const starting = Effect.gen(function*() {
  const running = yield* start
  return { ...running, generator: yield* Contract.generatorOf(driver, running.options) }
})

it.effect("sends the model, the prompt, constant inputs and bound parameters, with the key", () =>
  Effect.gen(function*() {
    const { generator, openRouter } = yield* starting
    yield* generator.submit(request("job-1"))
    assert.deepStrictEqual(openRouter.submitted, [
      { generate_audio: false, prompt: "a lake at night", duration: 4, seed: 7, model: "google/veo-3.1" }
    ])
    assert.strictEqual(openRouter.requests[0]?.headers.authorization, `Bearer ${Contract.apiKey}`)
  }))

it.effect("sends input images as the first and the last frame", () =>
  Effect.gen(function*() {
    const { generator, openRouter } = yield* starting
    const image = (byte: number) =>
      ({ mime: "image/png", width: 1, height: 1, bytes: 1, body: Stream.make(Uint8Array.of(byte)) }) as const
    yield* generator.submit(request("job-1", { mode: "image_to_video", images: [image(1), image(2)] }))
    const [sent] = openRouter.submitted as ReadonlyArray<{ readonly frame_images: unknown }>
    const frame = (url: string, frame_type: string) => ({ type: "image_url", image_url: { url }, frame_type })
    assert.deepStrictEqual(sent?.frame_images, [
      frame("data:image/png;base64,AQ==", "first_frame"),
      frame("data:image/png;base64,Ag==", "last_frame")
    ])
  }))

it.effect.each(["failed", "cancelled", "expired"])("fails if the job is %s", (status) =>
  Effect.gen(function*() {
    const { generator, openRouter } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    openRouter.change({ status, error: "The output was flagged by moderation" })
    assert.deepInclude(yield* generator.poll(operation), { _tag: "Failed" })
    const polled = yield* generator.poll(operation)
    assert.strictEqual(polled._tag === "Failed" ? polled.error.code : "", "content_rejected")
  }))

it.effect("passes the URL of callbacks on, unless `callbacks` is false", () =>
  Effect.gen(function*() {
    const callbackUrl = "https://media.example.com/internal/callbacks/gen_1?exp=1&sig=s%26"
    const { openRouter, options } = yield* start
    for (const callbacks of [true, false]) {
      const generator = yield* Contract.generatorOf(driver, { ...options, callbacks })
      assert.strictEqual(generator.callsBack, callbacks)
      yield* generator.submit(request("job-1", { callbackUrl }))
    }
    const [called, uncalled] = openRouter.submitted
    assert.propertyVal(called, "callback_url", callbackUrl)
    assert.notProperty(uncalled, "callback_url")
  }))
