import { Generator } from "@kinora/generator"
import { suite } from "@kinora/generator/testing"
import { Layer } from "effect"
import sharp from "sharp"
import { scripted } from "./Requests.ts"

const file = await sharp({ create: { width: 64, height: 64, channels: 3, background: "teal" } }).png().toBuffer()

suite("procedural", {
  generator: Layer.effect(
    Generator.Generator,
    scripted()
  ),
  request: { format: "webp" },
  images: { mode: "image_to_image", file, mime: "image/png", width: 64, height: 64 },
  faults: [
    {
      when: "the parameters are not supported",
      call: "submit",
      reason: "Permanent",
      code: "invalid_input",
      request: { params: { aspect_ratio: "7:1" } }
    }
  ]
})
