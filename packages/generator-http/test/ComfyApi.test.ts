import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { comfyApi, outputsOf } from "@kinora/testkit/upstreams/ComfyApiServer"
import { responds, upstreamText } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, Stream } from "effect"
import driver from "../src/ComfyApi.ts"
import * as Contract from "./ProtocolContract.ts"

const workflow = {
  "3": { class_type: "LoadImage", inputs: { image: "none.png" } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "" } },
  "9": { class_type: "SaveImage", inputs: { images: ["8", 0] } }
}

const request = (id: string, rest: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: { name: "sdxl", options: { workflow, bindings: [{ to: "6.text", from: "prompt" }] } },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake at night",
  params: {},
  images: [],
  format: "png",
  ...rest
})

const result = { mime: "image/png", bytes: Contract.resultBytes }

const start = Effect.map(comfyApi, (server) => ({
  server,
  comfy: server,
  files: server.files,
  options: { base_url: server.origin, api_key: Contract.apiKey, private: true },
  jobs: () => [...server.jobs.values()].filter(({ status }) => status === "queued").length,
  finish: () => {
    server.content.file = result
    server.change({ status: "succeeded", outputs: outputsOf(result) })
  },
  fail: () => server.change({ status: "failed", error: { code: "node_execution_error", message: upstreamText } }),
  confuse: () => server.change({ status: "canceling" }),
  restart: () => server.jobs.clear()
}))

const starting = Effect.gen(function*() {
  const running = yield* start
  return { ...running, generator: yield* Contract.generatorOf(driver, running.options) }
})

Contract.suite({
  name: "ComfyApi",
  driver,
  resubmit: "unsafe",
  submitsAgain: "UnknownOutcome",
  lines: { submit: "POST /api/v2/jobs", poll: "GET /api/v2/jobs/", result: "GET /signed" },
  mime: "image/png",
  whenLost: "Permanent",
  // The operator wrote the workflow.
  whenInvalid: "upstream_error",
  imageMode: "image_to_image",
  request,
  start
})

it.effect("uploads input images, and passes them to nodes as assets", () =>
  Effect.gen(function*() {
    const { comfy, generator } = yield* starting
    const bindings = [{ to: "6.text", from: "prompt" }, { to: "3.image", from: "image_1" }]
    const image = { mime: "image/png", width: 1, height: 1, bytes: 1, body: Stream.make(Uint8Array.of(7)) } as const
    yield* generator.submit(request("job-1", {
      mode: "image_to_image",
      model: { name: "sdxl", options: { workflow, bindings } },
      images: [image]
    }))
    assert.strictEqual(comfy.uploads[0]?.name, "image.png")
    const [sent] = comfy.submitted as ReadonlyArray<{ readonly workflow: typeof workflow }>
    assert.deepStrictEqual<unknown>(sent?.workflow["3"].inputs.image, {
      __type: "core/ASSET",
      info: { id: "asset-1" }
    })
    assert.strictEqual(sent?.workflow["6"].inputs.text, "a lake at night")
  }))

it.effect("sends the id as the key, and reports progress", () =>
  Effect.gen(function*() {
    const { comfy, generator } = yield* starting
    const operation = yield* generator.submit(request("job/1"))
    assert.strictEqual(comfy.requests[0]?.headers["idempotency-key"], "job%2F1")
    comfy.change({ status: "running", progress: { value: 0.42, nodes_done: 1, nodes_total: 3 } })
    assert.deepInclude(yield* generator.poll(operation), { _tag: "Pending", progress: 0.42 })
  }))

it.effect("does not send the key of the API to the server of results", () =>
  Effect.gen(function*() {
    const { comfy, finish, generator } = yield* starting
    const operation = yield* generator.submit(request("job-1"))
    finish()
    yield* Contract.read(yield* generator.collect(operation))
    assert.deepStrictEqual(comfy.files.requests.map(({ headers }) => headers.authorization), [undefined])
  }))

it.effect("rejects a job whose links lead to another origin", () =>
  Effect.gen(function*() {
    const { comfy, generator } = yield* starting
    const urls = { self: "https://example.com/api/v2/jobs/1", cancel: "/api/v2/jobs/1/cancel" }
    comfy.next("POST /api/v2/jobs", responds(201, {}, { status: "queued", outputs: [], urls }))
    assert.strictEqual((yield* Contract.reasonOf(generator.submit(request("job-1"))))._tag, "Permanent")
  }))

it.effect("returns the file of the configured node only", () =>
  Effect.gen(function*() {
    const { finish, generator } = yield* starting
    const options = { workflow, bindings: [{ to: "6.text", from: "prompt" }], output_node: "3" }
    const operation = yield* generator.submit(request("job-1", { model: { name: "sdxl", options } }))
    finish()
    assert.strictEqual((yield* Contract.reasonOf(generator.collect(operation)))._tag, "Permanent")
  }))
