import { assert, it } from "@effect/vitest"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import type { GenerationRequest, ScriptedGenerator } from "@kinora/generator"
import { Duration, Effect, Layer, type Schema } from "effect"
import * as Drivers from "../src/Drivers.ts"

/** Returns the problems of the default model with these changes. */
const problemsWith = (changes: Partial<Model.ModelInput>) =>
  Effect.flip(Drivers.check).pipe(
    Effect.map(({ message }) => message),
    Effect.provide(Layer.mergeAll(Catalog.layer([{ ...DefaultModels.sketch, ...changes }]), Drivers.layer))
  )

it.effect("serves the default models", () =>
  Drivers.check.pipe(Effect.provide(Layer.mergeAll(Catalog.layer(DefaultModels.models), Drivers.layer))))

it.effect("rejects an unknown driver and lists the available ones", () =>
  Effect.gen(function*() {
    assert.strictEqual(
      yield* problemsWith({ driver: { name: "painter" } }),
      "The model kinora-sketch-1 names the unknown driver \"painter\"; available drivers: procedural, scripted"
    )
  }))

it.effect("rejects invalid options of the scripted driver and names them", () =>
  Effect.gen(function*() {
    const wrong: ReadonlyArray<readonly [options: Record<string, Schema.Json>, message: RegExp]> = [
      [{ delay: "soon" }, /delay/],
      [{ dealy: "1 second" }, /dealy/],
      [{ delay: "1 second", delay_min: "1 second", delay_max: "2 seconds" }, /either delay, or delay_min/],
      [{ delay_min: "1 second" }, /either delay, or delay_min/],
      [{ delay_max: "1 second" }, /either delay, or delay_min/],
      [{ delay_min: "2 seconds", delay_max: "1 second" }, /either delay, or delay_min/],
      [{ failure: "bad_luck" }, /failure/],
      [{ failure_rate: 1.5 }, /failure_rate/],
      [{ bytes: 0 }, /bytes/]
    ]
    for (const [options, message] of wrong) {
      const problems = yield* problemsWith({ driver: { name: "scripted", options } })
      assert.notInclude(problems, "\n")
      assert.match(problems, /invalid options for the driver scripted/)
      assert.match(problems, message)
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

it.effect("rejects more reference images and other modes than the procedural driver supports", () =>
  Effect.gen(function*() {
    const { canvas } = DefaultModels
    assert.strictEqual(
      yield* problemsWith({ ...canvas, max_reference_images: 5 }),
      "The model kinora-canvas-1 accepts more reference images than the driver procedural;" +
        " max_reference_images must be at most 4"
    )
    assert.strictEqual(
      yield* problemsWith({ kind: "video", capabilities: ["text_to_video"], output_formats: ["video/mp4"] }),
      "The model kinora-sketch-1 has modes that the driver procedural does not support, text_to_video;" +
        " supported modes: text_to_image, image_to_image"
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

/** Returns a request for a model with these driver options. */
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
