import { Generator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import { Console, Effect, Stream } from "effect"

const program = Effect.gen(function*() {
  const generator = yield* Generator.Generator
  const operation = yield* generator.submit({
    id: "example",
    model: { name: "procedural", options: {} },
    kind: "image",
    mode: "text_to_image",
    prompt: "misty mountains at sunset",
    params: { aspect_ratio: "16:9", resolution: "1k" },
    images: [],
    format: "webp"
  })
  const picture = yield* generator.collect(operation)
  const file = yield* Stream.mkUint8Array(picture.body)
  yield* Console.log(picture.mime, picture.width, picture.height, file.length > 10_000)
})

await Effect.runPromise(Effect.scoped(Effect.provide(program, ProceduralGenerator.layer({ threads: 1 }))))
// image/webp 1344 768 true
