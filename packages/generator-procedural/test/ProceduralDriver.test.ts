import { assert, it } from "@effect/vitest"
import { Generator } from "@kinora/generator"
import type { ServedModel } from "@kinora/generator/ServedModel"
import { Context, Effect, Layer, Result } from "effect"
import ProceduralDriver from "../src/ProceduralDriver.ts"
import { request } from "./Requests.ts"

const motion = (rest: Partial<ServedModel> = {}): ServedModel => ({
  kind: "video",
  capabilities: ["text_to_video", "image_to_video"],
  max_reference_images: 1,
  output_formats: ["video/mp4"],
  params_schema: [
    { name: "aspect_ratio", type: "string", values: ["16:9", "9:16", "1:1"] },
    { name: "resolution", type: "string", values: ["480p", "720p", "1080p"] },
    { name: "duration", type: "int", min: 2, max: 10 }
  ],
  driver: { options: {} },
  ...rest
})

const problemsOf = (rest: Partial<ServedModel>) =>
  ProceduralDriver.check(motion(rest)).map(({ message, path }) => `${path.join(".")}: ${message}`)

it("serves models of videos and rejects what their requests would be refused for", () => {
  assert.deepStrictEqual(problemsOf({}), [])
  assert.deepStrictEqual(problemsOf({ params_schema: [{ name: "duration", type: "int", values: [4, 8] }] }), [])
  assert.deepStrictEqual(problemsOf({ max_reference_images: 4 }), [
    "max_reference_images: must be at most 1, the maximum of the driver"
  ])
  assert.deepStrictEqual(problemsOf({ output_formats: ["video/webm"] }), [
    "output_formats.0: must be one of the formats of the driver: video/mp4"
  ])
  assert.deepStrictEqual(
    problemsOf({
      params_schema: [
        { name: "resolution", type: "string", values: ["2k"] },
        { name: "duration", type: "int", min: 2, max: 60 },
        { name: "duration", type: "int", values: [1] }
      ]
    }),
    [
      "params_schema.0.values.0: must be one of the values of the driver: 480p, 720p, 1080p",
      "params_schema.1.values: must be given, and each must be one of the values of the driver: 2, 3, 4, 5, 6, 7, 8, 9, 10",
      "params_schema.2.values.0: must be one of the values of the driver: 2, 3, 4, 5, 6, 7, 8, 9, 10"
    ]
  )
})

it("rejects a picture model with the parameters of videos", () => {
  const params_schema = [{ name: "duration", type: "int", values: [4] }] as const
  const model = motion({ kind: "image", capabilities: ["text_to_image"], output_formats: ["image/png"], params_schema })
  assert.deepStrictEqual(ProceduralDriver.check(model), [
    {
      path: ["params_schema", 0, "name"],
      message: "must be one of the parameters of the driver: aspect_ratio, resolution"
    }
  ])
})

it.live("passes its options to the generator", () =>
  Effect.gen(function*() {
    const options = { threads: 1, encoder: "wasm", load: { latency_median: "1 milli", failure_rate: 1 } }
    const layer = Result.getOrThrow(ProceduralDriver.generator(options))
    const generator = Context.get(yield* Layer.build(layer), Generator.Generator)
    const operation = yield* generator.submit(request("fails", { prompt: "bauhaus" }))
    const status = yield* Effect.repeat(generator.poll(operation), { while: ({ _tag }) => _tag === "Pending" })
    assert.strictEqual(status._tag, "Failed")
  }).pipe(Effect.scoped))

it("rejects options that it does not have", () => {
  const wrong = [{ encoder: "h265" }, { load: { failure_rate: 2 } }, { threads: 0 }, { thread: 1 }]
  for (const options of wrong) assert.isTrue(Result.isFailure(ProceduralDriver.generator(options)))
})
