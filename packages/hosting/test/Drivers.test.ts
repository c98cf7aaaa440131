import { assert, it } from "@effect/vitest"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import type { GenerationRequest, ScriptedGenerator } from "@kinora/generator"
import { Duration, Effect, Layer, type Schema } from "effect"
import * as Drivers from "../src/Drivers.ts"

/** What a start with the default model changed like this would say. */
const problemsWith = (changes: Partial<Model.ModelInput>) =>
  Effect.flip(Drivers.check).pipe(
    Effect.map(({ message }) => message),
    Effect.provide(Layer.mergeAll(Catalog.layer([{ ...DefaultModels.sketch, ...changes }]), Drivers.layer))
  )

it.effect("serves the default models", () =>
  Drivers.check.pipe(Effect.provide(Layer.mergeAll(Catalog.layer(DefaultModels.models), Drivers.layer))))

it.effect("refuses a driver that there is not, and names those that there are", () =>
  Effect.gen(function*() {
    assert.strictEqual(
      yield* problemsWith({ driver: { name: "painter" } }),
      "The model kinora-sketch-1 names the driver \"painter\"; there are procedural, scripted"
    )
  }))

it.effect("refuses options that the scripted driver does not understand, and says which", () =>
  Effect.gen(function*() {
    const wrong: ReadonlyArray<readonly [options: Record<string, Schema.Json>, told: RegExp]> = [
      [{ delay: "soon" }, /delay/],
      [{ dealy: "1 second" }, /dealy/],
      [{ delay: "1 second", delay_min: "1 second", delay_max: "2 seconds" }, /a delay, or a delay_min/],
      [{ delay_min: "1 second" }, /a delay, or a delay_min/],
      [{ delay_max: "1 second" }, /a delay, or a delay_min/],
      [{ delay_min: "2 seconds", delay_max: "1 second" }, /a delay, or a delay_min/],
      [{ failure: "bad_luck" }, /failure/],
      [{ failure_rate: 1.5 }, /failure_rate/],
      [{ bytes: 0 }, /bytes/]
    ]
    for (const [options, told] of wrong) {
      const problems = yield* problemsWith({ driver: { name: "scripted", options } })
      assert.notInclude(problems, "\n")
      assert.match(problems, /options that the driver scripted does not understand/)
      assert.match(problems, told)
      assert.deepInclude(Drivers.scriptOf(requestFor(options)).outcome, { code: "invalid_input" })
    }
  }))

it.effect("serves models with reference images", () =>
  Effect.forEach(
    [{ name: "procedural" }, { name: "scripted" }],
    (driver) =>
      Drivers.check.pipe(Effect.provide(Layer.mergeAll(
        Catalog.layer([{ ...DefaultModels.canvas, driver }]),
        Drivers.layer
      ))),
    { discard: true }
  ))

it.effect("refuses more reference images, and other modes, than the painter takes", () =>
  Effect.gen(function*() {
    const { canvas } = DefaultModels
    assert.strictEqual(
      yield* problemsWith({ ...canvas, max_reference_images: 5 }),
      "The model kinora-canvas-1 takes more reference images than the driver procedural:" +
        " max_reference_images must be at most 4"
    )
    assert.strictEqual(
      yield* problemsWith({ kind: "video", capabilities: ["text_to_video"], output_formats: ["video/mp4"] }),
      "The model kinora-sketch-1 has modes that the driver procedural does not have, text_to_video;" +
        " there are text_to_image, image_to_image"
    )
  }))

it("reads a script from the options of the scripted driver", () => {
  const script = (options: Record<string, Schema.Json>) => Drivers.scriptOf(requestFor(options))
  assert.deepInclude(script({}), { outcome: "succeed", failureRate: undefined, delay: undefined, bytes: undefined })
  assert.deepInclude(script({ delay: "2 seconds", bytes: 9 }), { delay: Duration.seconds(2), bytes: 9 })
  assert.deepInclude(script({ delay_min: "1 second", delay_max: "3 seconds" }), {
    delay: Duration.seconds(1),
    delayMax: Duration.seconds(3)
  })
  const codeOf = ({ outcome }: ScriptedGenerator.Script) => typeof outcome === "object" ? outcome.code : outcome
  const always = script({ failure: "upstream_timeout" })
  assert.deepStrictEqual([codeOf(always), always.failureRate], ["upstream_timeout", undefined])
  const sometimes = script({ failure_rate: 0.2 })
  assert.deepStrictEqual([codeOf(sometimes), sometimes.failureRate], ["generation_failed", 0.2])
  const both = script({ failure: "content_rejected", failure_rate: 0.5 })
  assert.deepStrictEqual([codeOf(both), both.failureRate], ["content_rejected", 0.5])
})

/** A request for a model whose driver has these options. */
const requestFor = (options: Record<string, Schema.Json>): GenerationRequest.GenerationRequest => ({
  id: "a",
  model: { name: "drill", options },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake",
  params: {},
  images: [],
  format: "png"
})
