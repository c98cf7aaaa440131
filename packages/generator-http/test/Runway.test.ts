import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { runway } from "@kinora/testkit/upstreams/RunwayServer"
import { upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, Stream } from "effect"
import driver from "../src/Runway.ts"
import * as Contract from "./ProtocolContract.ts"

const request = (id: string, rest: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: {
    name: "gen",
    options: { model: "gen4.5", bindings: [{ to: "ratio", from: "aspect_ratio", values: { "16:9": "1280:720" } }] }
  },
  kind: "video",
  mode: "text_to_video",
  prompt: "a lake at night",
  params: { aspect_ratio: "16:9" },
  images: [],
  format: "mp4",
  ...rest
})

const start = Effect.map(runway, (server) => ({
  server,
  runway: server,
  files: server.files,
  options: { base_url: `${server.origin}/v1`, api_key: Contract.apiKey, private: true },
  jobs: () => server.tasks.size,
  finish: () => {
    server.content.file = { mime: "video/mp4", bytes: Contract.resultBytes }
    server.change({ status: "SUCCEEDED", output: [`${server.files.origin}/a.mp4?token=b`] })
  },
  fail: () => server.change({ status: "FAILED", failure: upstreamText, failureCode: "INTERNAL" }),
  confuse: () => server.change({ status: "THAWING" }),
  restart: () => server.tasks.clear()
}))

Contract.suite({
  name: "Runway",
  driver,
  resubmit: "unsafe",
  lines: { submit: "POST /v1/", poll: "GET /v1/tasks/", result: "GET /a.mp4" },
  mime: "video/mp4",
  whenLost: "Permanent",
  imageMode: "image_to_video",
  request,
  start
})

const starting = Effect.gen(function*() {
  const running = yield* start
  return { ...running, generator: yield* Contract.generatorOf(driver, running.options) }
})

const image = { mime: "image/png", width: 1, height: 1, bytes: 1, body: Stream.make(Uint8Array.of(1)) } as const
const url = "data:image/png;base64,AQ=="

it.effect.each<readonly [Partial<GenerationRequest>, string, object]>([
  [{}, "/v1/text_to_video", {}],
  [{ mode: "image_to_video", images: [image] }, "/v1/image_to_video", { promptImage: url }],
  [{ mode: "text_to_image", kind: "image" }, "/v1/text_to_image", {}],
  [{ mode: "image_to_image", kind: "image", images: [image, image] }, "/v1/text_to_image", {
    referenceImages: [{ uri: url }, { uri: url }]
  }]
])("submits by mode and input images", ([rest, path, inputs]) =>
  Effect.gen(function*() {
    const { generator, runway } = yield* starting
    yield* generator.submit(request("job-1", rest))
    const body = { model: "gen4.5", promptText: "a lake at night", ratio: "1280:720", ...inputs }
    assert.deepStrictEqual(runway.submitted, [{ path, body }])
    assert.strictEqual(runway.requests[0]?.headers.authorization, `Bearer ${Contract.apiKey}`)
  }))

it.effect("reports progress from 0 to 1", () =>
  Effect.gen(function*() {
    const { generator, runway } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    for (const [progress, expected] of [[0.4, 0.4], [7, 1]] as const) {
      runway.change({ status: "RUNNING", progress })
      assert.deepInclude(yield* generator.poll(operation), { _tag: "Pending", progress: expected })
    }
    runway.change({ status: "THROTTLED" })
    assert.strictEqual((yield* generator.poll(operation))._tag, "Pending")
  }))

it.effect.each<readonly [string, string]>([
  ["SAFETY.INPUT.TEXT", "content_rejected"],
  ["SAFETY.OUTPUT.VIDEO", "content_rejected"],
  ["ASSET.INVALID", "invalid_input"],
  ["INTERNAL.BAD_OUTPUT.CODE01", "upstream_error"]
])("fails by the failure code %s", ([failureCode, code]) =>
  Effect.gen(function*() {
    const { generator, runway } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    runway.change({ status: "FAILED", failure: upstreamText, failureCode })
    const status = yield* generator.poll(operation)
    assert.strictEqual(status._tag === "Failed" ? status.error.code : "", code)
  }))
