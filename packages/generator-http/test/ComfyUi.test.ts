import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { ServedModel } from "@kinora/generator/ServedModel"
import { comfyUi } from "@kinora/testkit/upstreams/ComfyUiServer"
import { responds } from "@kinora/testkit/upstreams/ScriptedServer"
import { Effect, type Schema, Stream } from "effect"
import driver from "../src/ComfyUi.ts"
import * as Contract from "./ProtocolContract.ts"

const workflow = {
  "3": { class_type: "KSampler", inputs: { seed: 1, steps: 20, model: ["4", 0], latent_image: ["5", 0] } },
  "5": { class_type: "EmptyLatentImage", inputs: { width: 512, height: 512, batch_size: 1 } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "", clip: ["4", 1] }, _meta: { title: "Prompt" } },
  "9": { class_type: "SaveImage", inputs: { images: ["8", 0], filename_prefix: "kinora" } }
}

const bindings = [
  { to: "6.text", from: "prompt" },
  { to: "3.seed", from: "seed" },
  { to: "5.width", from: "aspect_ratio", values: { "1:1": 1024, "16:9": 1344 } },
  { to: "5.height", from: "aspect_ratio", values: { "1:1": 1024, "16:9": 768 } }
]

const options = { workflow, bindings }

const withImage = {
  workflow: { ...workflow, "10": { class_type: "LoadImage", inputs: { image: "example.png" } } },
  bindings: [...bindings, { to: "10.image", from: "image_1" }]
}

const request = Contract.imageRequests({ name: "sdxl", options })

const start = Effect.map(comfyUi, (server) => {
  const only = () => [...server.running, ...server.pending][0]?.id ?? ""
  return {
    server,
    comfy: server,
    options: { base_url: server.origin, api_key: Contract.apiKey },
    jobs: () => server.pending.length + server.running.length,
    finish: () => server.finish(only(), "kinora_00001_.png", "image/png", Contract.resultBytes),
    fail: () => server.end(only(), { status: { status_str: "error", completed: false, messages: [] }, outputs: {} }),
    confuse: () => server.end(only(), { status: { status_str: "uploading", completed: false }, outputs: {} }),
    restart: server.restart
  }
})

Contract.suite({
  name: "ComfyUi",
  driver,
  resubmit: "safe",
  lines: { submit: "POST /prompt", poll: "GET /history", result: "GET /view" },
  mime: "image/png",
  whenLost: "Lost",
  whenGone: "Permanent",
  // The operator wrote the workflow.
  whenInvalid: "upstream_error",
  imageMode: "image_to_image",
  request,
  start
})

const submitting = Effect.fnUntraced(function*(rest: Partial<GenerationRequest> = {}) {
  const { comfy, options: driverOptions } = yield* start
  const generator = yield* Contract.generatorOf(driver, driverOptions)
  return { comfy, generator, submit: generator.submit(request("job/1", rest)) }
})

it.effect("fills the workflow and sends the id of the request as prompt_id", () =>
  Effect.gen(function*() {
    const { comfy, submit } = yield* submitting()
    yield* submit
    assert.deepStrictEqual(comfy.pending, [{
      id: "job/1",
      workflow: {
        ...workflow,
        "3": { ...workflow["3"], inputs: { ...workflow["3"].inputs, seed: 7 } },
        "5": { ...workflow["5"], inputs: { width: 1344, height: 768, batch_size: 1 } },
        "6": { ...workflow["6"], inputs: { text: "a lake at night", clip: ["4", 1] } }
      }
    }])
    assert.strictEqual(comfy.requests.at(-1)?.headers.authorization, `Bearer ${Contract.apiKey}`)
  }))

const image = (body: Uint8Array): GenerationRequest["images"][number] => ({
  mime: "image/png",
  width: 1,
  height: 1,
  bytes: body.length,
  body: Stream.make(body)
})

const imageRequest = (images: GenerationRequest["images"]): Partial<GenerationRequest> => ({
  mode: "image_to_image",
  model: { name: "sdxl", options: withImage },
  images
})

it.effect("uploads input images before the prompt, once per submitted job", () =>
  Effect.gen(function*() {
    const { comfy, submit } = yield* submitting(imageRequest([image(Uint8Array.of(1, 2, 3))]))
    yield* submit
    yield* submit
    const [name = ""] = comfy.uploads
    assert.match(name, /^kinora-[0-9a-f]{32}-1\.png$/)
    assert.strictEqual(comfy.uploads.length, 1)
    const nodes = comfy.pending.map(({ workflow }) => (workflow as typeof withImage.workflow)["10"])
    assert.deepStrictEqual(nodes, [{ class_type: "LoadImage", inputs: { image: name } }])
  }))

it.effect("rejects a request with fewer images than the workflow needs", () =>
  Effect.gen(function*() {
    const { comfy, submit } = yield* submitting(imageRequest([]))
    assert.deepInclude(yield* Contract.reasonOf(submit), { _tag: "Permanent", code: "invalid_input" })
    assert.deepStrictEqual(comfy.pending, [])
  }))

it.effect("fails with an upstream error if ComfyUI rejects the workflow, which clients cannot correct", () =>
  Effect.gen(function*() {
    const { comfy, submit } = yield* submitting()
    comfy.next("POST /prompt", responds(400, {}, { error: { type: "prompt_outputs_failed_validation" } }))
    assert.deepInclude(yield* Contract.reasonOf(submit), { _tag: "Permanent", code: "upstream_error" })
  }))

it.effect("deletes the prompt and fails if ComfyUI does not accept ids", () =>
  Effect.gen(function*() {
    const { comfy, submit } = yield* submitting()
    comfy.settings.ignoresIds = true
    assert.deepInclude(yield* Contract.reasonOf(submit), { _tag: "Permanent", code: "upstream_error" })
    assert.deepStrictEqual(comfy.pending, [])
  }))

it.effect("interrupts its own prompt only", () =>
  Effect.gen(function*() {
    const { comfy, generator, submit } = yield* submitting()
    const first = yield* submit
    const second = yield* generator.submit(request("job/2"))
    comfy.run()
    yield* generator.cancel(second)
    assert.deepStrictEqual(comfy.running.map(({ id }) => id), ["job/1"])
    yield* generator.cancel(first)
    assert.deepStrictEqual([...comfy.running, ...comfy.pending], [])
    assert.strictEqual((yield* generator.poll(first))._tag, "Failed")
  }))

it.effect("finds the prompt of a submit whose response was lost", () =>
  Effect.gen(function*() {
    const { comfy, generator, submit } = yield* submitting()
    const operation = yield* submit
    comfy.run()
    assert.deepStrictEqual(yield* submit, operation)
    comfy.finish("job/1", "a.png", "image/png", Contract.resultBytes)
    assert.deepStrictEqual(yield* submit, operation)
    assert.strictEqual((yield* generator.poll(operation))._tag, "Succeeded")
    assert.strictEqual(comfy.requests.filter(({ path }) => path === "/prompt").length, 1)
  }))

it.effect("returns videos that nodes list under other names", () =>
  Effect.gen(function*() {
    for (const list of ["images", "gifs", "videos"]) {
      const { comfy, generator, submit } = yield* submitting({ kind: "video", mode: "text_to_video", format: "mp4" })
      const operation = yield* submit
      comfy.finish("job/1", "kinora.mp4", "video/mp4", Contract.resultBytes, list)
      const output = yield* generator.collect(operation)
      assert.strictEqual(output.mime, "video/mp4")
      assert.deepStrictEqual(yield* Contract.read(output), Contract.resultBytes)
    }
  }))

it.effect("fails if the workflow saved no file of the requested kind, or its node did not", () =>
  Effect.gen(function*() {
    for (
      const rest of [{ kind: "video" as const }, { model: { name: "sdxl", options: { ...options, output_node: "8" } } }]
    ) {
      const { comfy, generator, submit } = yield* submitting(rest)
      const operation = yield* submit
      comfy.finish("job/1", "a.png", "image/png", Contract.resultBytes)
      assert.deepInclude(yield* Contract.reasonOf(generator.collect(operation)), {
        _tag: "Permanent",
        code: "upstream_error"
      })
    }
  }))

const model: ServedModel = {
  kind: "image",
  capabilities: ["text_to_image"],
  max_reference_images: 0,
  output_formats: ["image/png"],
  params_schema: [{ name: "aspect_ratio", type: "string", values: ["1:1", "16:9"] }],
  driver: { options }
}

const problems = (rest: Partial<ServedModel>, changed: { readonly [name: string]: Schema.Json } = {}) =>
  driver.check({ ...model, driver: { options: { ...options, ...changed } }, ...rest })
    .map(({ message, path }) => `${path.join(".")} ${message}`)

it("accepts a model whose workflow and bindings fit", () => {
  assert.deepStrictEqual(problems({}), [])
  assert.deepStrictEqual(
    problems({ capabilities: ["image_to_image"], max_reference_images: 1 }, withImage),
    []
  )
})

it("returns every problem of a model", () => {
  assert.deepStrictEqual(
    problems({ capabilities: ["text_to_image", "image_to_image"], max_reference_images: 1 }, {
      output_node: "99",
      bindings: [{ to: "6.prompt", from: "prompts" }]
    }),
    [
      "driver.options.bindings.0.from must be of prompt, seed, images, image_1, aspect_ratio; the model has no prompts",
      "params_schema.0.name must be the source of a binding of the driver's options",
      "driver.options.bindings.0.to must be the id of a node of the workflow, a dot and the name of its input",
      "driver.options.bindings must have a binding from prompt",
      "driver.options.output_node must be the id of a node of the workflow",
      "capabilities.1 must be a mode without input images, since the workflow has no binding for them",
      "max_reference_images must be 0, the number of input images that have a binding"
    ]
  )
})
