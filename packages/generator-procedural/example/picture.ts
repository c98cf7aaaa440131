import { Generator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import { Effect, Stream } from "effect"

/** Paints a picture and answers with its file. */
export const paint = Effect.fn("paint")(
  function*(prompt: string) {
    const generator = yield* Generator.Generator
    const operation = yield* generator.submit({
      id: "example",
      model: { name: "procedural", options: {} },
      kind: "image",
      mode: "text_to_image",
      prompt,
      params: { aspect_ratio: "16:9", resolution: "1k" },
      images: [],
      format: "webp"
    })
    const picture = yield* generator.collect(operation)
    const parts = yield* Stream.runCollect(picture.body)
    return Buffer.concat(parts)
  },
  Effect.scoped,
  Effect.provide(ProceduralGenerator.layer({ threads: 1 }))
)
