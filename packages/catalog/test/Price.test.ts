import { assert, it } from "@effect/vitest"
import * as Price from "../src/Price.ts"
import { filmModel, stillModel } from "./models.ts"

const filmPrice = (mode: "text_to_video" | "image_to_video", duration: number, resolution: string) =>
  Price.of(filmModel, { mode, params: { duration, resolution, audio: true, speed: 24 } })

it("selects the matching row with the most conditions", () => {
  assert.strictEqual(filmPrice("text_to_video", 5, "720p"), 10)
  assert.strictEqual(filmPrice("text_to_video", 5, "1080p"), 10)
  assert.strictEqual(filmPrice("text_to_video", 12, "720p"), 20)
  assert.strictEqual(filmPrice("text_to_video", 12, "1080p"), 40)
  assert.strictEqual(filmPrice("image_to_video", 12, "1080p"), 50)
})

it("does not depend on the order of the rows", () => {
  const reversed = { ...filmModel, price_table: filmModel.price_table.toReversed() }
  const job = { mode: "text_to_video", params: { duration: 12, resolution: "1080p" } } as const
  assert.strictEqual(Price.of(reversed, job), 40)
})

it("throws for a job that the model does not allow", () => {
  assert.throws(() => Price.of(stillModel, { mode: "text_to_image", params: { resolution: "4k" } }), /no price/)
})
