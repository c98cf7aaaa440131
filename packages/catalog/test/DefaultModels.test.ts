import { assert, it } from "@effect/vitest"
import { Option, Result } from "effect"
import * as AspectRatio from "../src/AspectRatio.ts"
import * as Catalog from "../src/Catalog.ts"
import { models } from "../src/DefaultModels.ts"
import * as Model from "../src/Model.ts"
import { canvasModel, sketchModel } from "./models.ts"

it("are a valid configuration", () => {
  const parsed = Result.getOrThrow(Catalog.parse(models))
  assert.deepStrictEqual(parsed.map(({ id }) => id), ["kinora-sketch-1", "kinora-canvas-1"])
  for (const model of parsed) {
    assert.strictEqual(model.kind, "image")
    assert.strictEqual(model.driver.name, "procedural")
    assert.deepStrictEqual(
      Option.getOrThrow(Model.param(model, AspectRatio.paramName)).values,
      ["1:1", "3:2", "2:3", "16:9", "9:16", "4:3", "3:4"]
    )
  }
})

it("include a fast model in Studio, and a 2k model for credits", () => {
  assert.isTrue(sketchModel.studio_eligible)
  assert.isFalse(Model.accepts(sketchModel, "resolution", "2k"))
  assert.isFalse(canvasModel.studio_eligible)
  assert.isTrue(Model.accepts(canvasModel, "resolution", "2k"))
})

it("include a model with up to four reference images, and one without", () => {
  assert.deepStrictEqual(sketchModel.capabilities, ["text_to_image"])
  assert.deepStrictEqual(canvasModel.capabilities, ["text_to_image", "image_to_image"])
  assert.strictEqual(canvasModel.max_reference_images, 4)
})
