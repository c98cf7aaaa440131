import { assert, it } from "@effect/vitest"
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { ServedModel } from "@kinora/generator/ServedModel"
import { bind, type Binding, bindingProblems, seedOf } from "../src/internal/bindings.ts"

const request: GenerationRequest = {
  id: "job-1",
  model: { name: "any", options: {} },
  kind: "video",
  mode: "image_to_video",
  prompt: "a lake",
  params: { aspect_ratio: "16:9", resolution: "720p", duration: 4, hd: true },
  images: [],
  format: "mp4"
}

const bound = (binding: Binding, images: ReadonlyArray<string> = []) => bind([binding], request, images)[0]?.value

it("passes values of the request", () => {
  assert.strictEqual(bound({ to: "a", from: "prompt" }), "a lake")
  assert.strictEqual(bound({ to: "a", from: "duration" }), 4)
  assert.strictEqual(bound({ to: "a", from: ["hd"] }), true)
  assert.strictEqual(bound({ to: "a", from: "image_2" }, ["first", "second"]), "second")
  assert.deepStrictEqual(bound({ to: "a", from: "images" }, ["first", "second"]), ["first", "second"])
})

it("translates values of one or more sources", () => {
  const values = { "16:9 720p": 1280, "16:9 480p": 854 }
  assert.strictEqual(bound({ to: "a", from: ["aspect_ratio", "resolution"], values }), 1280)
  assert.strictEqual(bound({ to: "a", from: "hd", values: { true: "high", false: "low" } }), "high")
  assert.strictEqual(bound({ to: "a", from: "aspect_ratio", values: {} }), undefined)
})

it("computes numbers, such as frames of a duration", () => {
  assert.strictEqual(bound({ to: "a", from: "duration", multiply: 16, add: 1 }), 65)
  assert.strictEqual(bound({ to: "a", from: "duration", add: -1 }), 3)
})

it("skips a binding if a source is absent", () => {
  for (const from of ["image_1", "images", "fps"]) assert.deepStrictEqual(bind([{ to: "a", from }], request, []), [])
})

it("derives the seed from the id unless the request has one", () => {
  assert.strictEqual(seedOf({ ...request, seed: 7 }), 7)
  assert.strictEqual(seedOf(request), seedOf({ ...request, prompt: "other" }))
  assert.notStrictEqual(seedOf(request), seedOf({ ...request, id: "job-2" }))
})

const model: ServedModel = {
  kind: "video",
  capabilities: ["text_to_video"],
  max_reference_images: 0,
  output_formats: ["video/mp4"],
  params_schema: [
    { name: "aspect_ratio", type: "string", values: ["16:9", "1:1"] },
    { name: "duration", type: "int", min: 2, max: 4 },
    { name: "note", type: "string" }
  ],
  driver: { options: {} }
}

const problems = (binding: Binding) =>
  bindingProblems({ ...model, params_schema: model.params_schema.map((param) => ({ ...param })) }, [
    ...["aspect_ratio", "duration", "note"].map((from) => ({ to: from, from })),
    binding
  ]).map(({ message, path }) => `${path.join(".")} ${message}`)

it("accepts bindings that cover every value of their parameters", () => {
  assert.deepStrictEqual(problems({ to: "a", from: "duration", values: { 2: 33, 3: 49, 4: 65 } }), [])
  assert.deepStrictEqual(problems({ to: "a", from: "duration", multiply: 16, add: 1 }), [])
  assert.deepStrictEqual(problems({ to: "a", from: "seed", add: 1 }), [])
})

it("returns the problems of bindings", () => {
  const path = "driver.options.bindings.3"
  assert.deepStrictEqual(
    problems({ to: "a", from: ["aspect_ratio", "duration"], values: { "16:9 2": 1, "1:1 2": 1 } }),
    [
      `${path}.values must have the keys 16:9 3, 16:9 4, 1:1 3, 1:1 4`
    ]
  )
  assert.deepStrictEqual(problems({ to: "a", from: "note", values: {} }), [
    `${path}.from must be parameters with a list or range of values if there is values`
  ])
  assert.deepStrictEqual(problems({ to: "a", from: ["aspect_ratio", "duration"] }), [
    `${path}.values must be given if there are several sources`
  ])
  assert.deepStrictEqual(problems({ to: "a", from: "note", multiply: 2 }), [
    `${path}.from must be an int parameter or seed if there is multiply or add`
  ])
  assert.deepStrictEqual(problems({ to: "a", from: "duration", values: {}, add: 1 }), [
    `${path}.values must be absent if there is multiply or add`
  ])
  assert.deepStrictEqual(problems({ to: "a", from: "image_1" }), [
    `${path}.from must be of prompt, seed, aspect_ratio, duration, note; the model has no image_1`
  ])
})
