/** Writes a video to a file: `node example/video.ts "city at night" city.mp4 720p 4`. */
import { Generator } from "@kinora/generator"
import { ProceduralGenerator } from "@kinora/generator-procedural"
import { Console, Effect, Stream } from "effect"
import { writeFile } from "node:fs/promises"

const [prompt = "mountains at sunset", path = "video.mp4", resolution = "720p", seconds = "4"] = process.argv.slice(2)

const program = Effect.gen(function*() {
  const generator = yield* Generator.Generator
  const operation = yield* generator.submit({
    id: "example",
    model: { name: "procedural", options: {} },
    kind: "video",
    mode: "text_to_video",
    prompt,
    params: { aspect_ratio: "16:9", resolution, duration: Number(seconds) },
    images: [],
    format: "mp4"
  })
  const video = yield* generator.collect(operation)
  const file = yield* Stream.mkUint8Array(video.body)
  yield* Effect.promise(() => writeFile(path, file))
  yield* Console.log(path, video.mime, video.width, video.height, file.length)
})

await Effect.runPromise(Effect.scoped(Effect.provide(program, ProceduralGenerator.layer({ threads: 1 }))))
