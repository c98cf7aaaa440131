import { assert, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import * as AspectRatio from "../src/AspectRatio.ts"
import * as Catalog from "../src/Catalog.ts"
import { models } from "../src/DefaultModels.ts"
import * as Model from "../src/Model.ts"
import * as Parameters from "../src/Parameters.ts"
import * as Price from "../src/Price.ts"
import { draftModel, motionModel, stillModel } from "./models.ts"

/** Parameters and price of a job. */
const jobOf = (model: Model.Model, params: Readonly<Record<string, unknown>> = {}): Model.ParamValues => {
  const job = Result.getOrThrow(Parameters.resolve(model, { prompt: "a lake", ...params }))
  return { ...job.params, credits: Price.of(model, job) }
}

it("are valid, use the procedural driver, and name it in their descriptions", () => {
  const parsed = Result.getOrThrow(Catalog.parse(models))
  assert.deepStrictEqual(parsed.map(({ id }) => id), ["kinora-still", "kinora-motion", "kinora-draft"])
  for (const { description, driver, name } of parsed) {
    assert.strictEqual(driver.name, "procedural")
    assert.include(name, "procedural")
    assert.include(description, "without an AI model")
  }
})

it("include images of up to 2k with up to four references, for credits", () => {
  assert.deepStrictEqual(stillModel.capabilities, ["text_to_image", "image_to_image"])
  assert.strictEqual(stillModel.max_reference_images, 4)
  assert.isFalse(stillModel.studio_eligible)
  assert.deepStrictEqual(jobOf(stillModel), { aspect_ratio: "1:1", resolution: "1k", credits: 8 })
  assert.strictEqual(jobOf(stillModel, { resolution: "2k" })["credits"], 16)
  assert.deepStrictEqual(
    Option.getOrThrow(Model.param(stillModel, AspectRatio.paramName)).values,
    ["1:1", "3:2", "2:3", "16:9", "9:16", "4:3", "3:4"]
  )
})

it("include videos that cost credits per second by resolution, also in Studio", () => {
  assert.deepStrictEqual(motionModel.capabilities, ["text_to_video", "image_to_video"])
  assert.strictEqual(motionModel.max_reference_images, 1)
  assert.isTrue(motionModel.studio_eligible)
  assert.deepStrictEqual(jobOf(motionModel), { aspect_ratio: "16:9", duration: 4, resolution: "720p", credits: 40 })
  const prices = (duration: number) =>
    ["480p", "720p", "1080p"].map((resolution) => jobOf(motionModel, { duration, resolution })["credits"])
  assert.deepStrictEqual(prices(2), [10, 20, 40])
  assert.deepStrictEqual(prices(7), [35, 70, 140])
  assert.deepStrictEqual(prices(10), [50, 100, 200])
})

it("include fast, small images from text in Studio", () => {
  assert.deepStrictEqual(draftModel.capabilities, ["text_to_image"])
  assert.isTrue(draftModel.studio_eligible)
  assert.deepStrictEqual(jobOf(draftModel), { aspect_ratio: "1:1", resolution: "512px", credits: 1 })
  assert.isFalse(Model.accepts(draftModel, "resolution", "2k"))
})

it.effect("accept the ids of earlier versions, with the jobs and prices that they had", () =>
  Effect.gen(function*() {
    const { find, list } = yield* Catalog.Catalog
    const sketch = Option.getOrThrow(find("kinora-sketch-1"))
    assert.strictEqual(sketch.id, "kinora-draft")
    assert.deepStrictEqual(jobOf(sketch), { aspect_ratio: "1:1", resolution: "1k", credits: 2 })
    assert.strictEqual(jobOf(sketch, { resolution: "512px" })["credits"], 1)
    const canvas = Option.getOrThrow(find("kinora-canvas-1"))
    assert.strictEqual(canvas.id, "kinora-still")
    assert.deepStrictEqual(jobOf(canvas), { aspect_ratio: "1:1", resolution: "1k", credits: 8 })
    assert.strictEqual(list.length, 3)
  }).pipe(Effect.provide(Catalog.layer(models))))
