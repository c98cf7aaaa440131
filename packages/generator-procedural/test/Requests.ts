/** Requests of tests, and what comes of them. */
import { assert } from "@effect/vitest"
import { type GenerationRequest, Generator } from "@kinora/generator"
import { Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import * as DrawingPool from "../src/internal/DrawingPool.ts"
import * as ProceduralGenerator from "../src/ProceduralGenerator.ts"

/** A request with defaults for everything that a test does not need. */
export const request = (
  id: string,
  rest: Partial<GenerationRequest.GenerationRequest> = {}
): GenerationRequest.GenerationRequest => ({
  id,
  model: { name: "procedural", options: {} },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake in the mountains",
  params: {},
  images: [],
  format: "webp",
  ...rest
})

/** The result, read to its end. */
export const collected = Effect.fnUntraced(
  function*(generator: Generator.Generator["Service"], operation: Generator.Operation) {
    const output = yield* generator.collect(operation)
    const bytes = Buffer.concat(Array.from(yield* Stream.runCollect(output.body)))
    return { ...output, bytes }
  },
  Effect.scoped
)

/** Submits, polls until it is done, collects. */
export const made = Effect.fnUntraced(function*(request: GenerationRequest.GenerationRequest) {
  const generator = yield* Generator.Generator
  const operation = yield* generator.submit(request)
  const status = yield* Effect.repeat(generator.poll(operation), { while: (status) => status._tag === "Pending" })
  assert.strictEqual(status._tag, "Succeeded")
  return yield* collected(generator, operation)
})

/** The generator on one thread, with pictures of a sixteenth of the area that their output states. */
export const layerSmall: Layer.Layer<Generator.Generator> = Layer.effect(
  Generator.Generator,
  Effect.flatMap(DrawingPool.make({ threads: 1 }), (pool) =>
    ProceduralGenerator.make({
      draw: (drawing, report) =>
        pool.draw({ ...drawing, width: drawing.width >> 2, height: drawing.height >> 2 }, report)
    }))
)

/** A finished drawing that is not a picture. */
export const blank: DrawingPool.Drawn = { bytes: Uint8Array.of(1), poster: null }

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** A generator whose pictures are drawn by a function instead of threads. */
export const scripted = (
  options: ProceduralGenerator.ProceduralGeneratorOptions & Partial<DrawingPool.DrawingPool> = {}
) => ProceduralGenerator.make({ draw: options.draw ?? (() => Effect.succeed(blank)) }, options)
