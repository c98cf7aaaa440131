/** Prices, requests and code of the playground. */
import { assert, describe, it } from "@effect/vitest"
import { lowestPrice, priceOf } from "../src/pages/playground/price.ts"
import { paramsOf, planOf, promptLength, requestOf } from "../src/pages/playground/request.ts"
import { snippet } from "../src/pages/playground/snippets.ts"

const model = {
  id: "sketch",
  name: "Sketch",
  kind: "image",
  studio_eligible: true,
  status: "available",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 1,
  max_prompt_chars: 100,
  params_schema: [
    { name: "aspect_ratio", type: "string", default: "1:1", values: ["1:1", "3:2"] },
    { name: "duration", type: "int", default: 4, min: 2, max: 10 }
  ],
  price_table: [
    { params: {}, credits: 2 },
    { params: { aspect_ratio: "3:2" }, credits: 3 },
    { params: { aspect_ratio: "3:2", mode: "image_to_image" }, credits: 5 }
  ]
} as const

const draft = { model: null, prompt: "a lake", plan: "studio", chosen: {}, references: [], job: null } as const

describe("price", () => {
  it("is that of the most specific row that matches", () => {
    assert.strictEqual(priceOf(model, { aspect_ratio: "1:1" }), 2)
    assert.strictEqual(priceOf(model, { aspect_ratio: "3:2", mode: "text_to_image" }), 3)
    assert.strictEqual(priceOf(model, { aspect_ratio: "3:2", mode: "image_to_image" }), 5)
  })

  it("is undefined if no row matches", () => {
    assert.isUndefined(priceOf({ price_table: [{ params: { resolution: "2k" }, credits: 9 }] }, {}))
    assert.isUndefined(priceOf({ price_table: null }, {}))
  })

  it("has a lowest value, and tells whether it varies", () => {
    assert.deepStrictEqual(lowestPrice(model), { credits: 2, varies: true })
    assert.deepStrictEqual(lowestPrice({ price_table: [{ params: {}, credits: 4 }] }), { credits: 4, varies: false })
    assert.isUndefined(lowestPrice({ price_table: [] }))
  })
})

describe("request", () => {
  it("has the model's defaults, and only values that the model accepts", () => {
    assert.deepStrictEqual(paramsOf(model, {}), { aspect_ratio: "1:1", duration: 4 })
    assert.deepStrictEqual(paramsOf(model, { aspect_ratio: "9:16", duration: 11, seed: 1 }), {
      aspect_ratio: "1:1",
      duration: 4
    })
    assert.deepStrictEqual(paramsOf(model, { aspect_ratio: "3:2", duration: 10 }), {
      aspect_ratio: "3:2",
      duration: 10
    })
  })

  it("contains uploaded images up to the model's maximum, and the mode that determines the price", () => {
    const reference = (key: number, id: string | null) => ({ key, id, preview: "blob:", problem: null })
    const { priced, request } = requestOf(
      model,
      { ...draft, references: [reference(1, "up_1"), reference(2, "up_2")] },
      "credits"
    )
    assert.deepStrictEqual(request.params.images, [{ upload_id: "up_1" }])
    assert.strictEqual(priced["mode"], "image_to_image")
    assert.isFalse(
      "images" in requestOf(model, { ...draft, references: [reference(1, null)] }, "credits").request.params
    )
  })

  it("is charged to credits if the model is not part of the Studio plan", () => {
    assert.strictEqual(planOf(model, "studio", undefined), "studio")
    assert.strictEqual(planOf({ ...model, studio_eligible: false }, "studio", undefined), "credits")
  })

  it("counts the prompt in code points", () => {
    assert.strictEqual(promptLength("a😀é"), 3)
  })
})

describe("code", () => {
  const request = { plan: "studio", model: "sketch", params: { prompt: "it's a lake", aspect_ratio: "3:2" } } as const

  it("escapes single quotes for the shell", () => {
    const text = snippet("curl", request, "image", "https://kinora.example")
    assert.include(text, String.raw`"prompt": "it'\''s a lake"`)
    assert.include(text, "https://kinora.example/v1/generations")
  })

  it("never contains a key", () => {
    for (const language of ["curl", "openai", "client"] as const) {
      assert.include(snippet(language, request, "image", "https://kinora.example"), "KINORA_API_KEY")
    }
  })

  it("names the parameters that the OpenAI endpoint cannot express", () => {
    assert.include(snippet("openai", request, "image", ""), `"size": "1536x1024"`)
    const text = snippet(
      "openai",
      { ...request, params: { ...request.params, aspect_ratio: "4:3", resolution: "2k" } },
      "image",
      ""
    )
    assert.include(text, "cannot express: resolution, aspect_ratio")
    assert.include(snippet("openai", request, "video", ""), "creates images only")
  })
})
