import { assert, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import * as AspectRatio from "../src/AspectRatio.ts"
import * as Model from "../src/Model.ts"
import { filmModel, stillModel } from "./models.ts"

const nearest = (text: string) =>
  Option.getOrUndefined(Option.flatMap(AspectRatio.parseSize(text), (size) => AspectRatio.nearest(stillModel, size)))

it("maps the sizes of common clients", () => {
  assert.strictEqual(nearest("1024x1024"), "1:1")
  assert.strictEqual(nearest("1536x1024"), "3:2")
  assert.strictEqual(nearest("1792x1024"), "16:9")
  assert.strictEqual(nearest("1024x1536"), "2:3")
  assert.strictEqual(nearest("1024x1792"), "9:16")
  assert.strictEqual(nearest("99999x1"), "16:9")
})

it("parses sizes, and no other text", () => {
  for (const text of ["auto", "", "1024", "0x100", "100x0", "-1x1", "1.5x1", "1x1 ", "100000x1", "1X1", "٣x٣"]) {
    assert.isTrue(Option.isNone(AspectRatio.parseSize(text)), text)
  }
  assert.deepStrictEqual(AspectRatio.parseSize("640x480"), Option.some({ width: 640, height: 480 }))
})

it("returns None for a model without aspect ratios", () => {
  assert.isTrue(Option.isNone(AspectRatio.nearest(filmModel, { width: 1, height: 1 })))
})

const Side = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 99_999 }))

it.effect.prop(
  "returns an aspect ratio of the model with the orientation of the size",
  [Side, Side],
  ([width, height]) =>
    Effect.sync(() => {
      const wide = Option.getOrThrow(AspectRatio.nearest(stillModel, { width, height }))
      assert.isTrue(Model.accepts(stillModel, AspectRatio.paramName, wide))
      const high = Option.getOrThrow(AspectRatio.nearest(stillModel, { width: height, height: width }))
      assert.strictEqual(wide.split(":").toReversed().join(":"), high)
    })
)
