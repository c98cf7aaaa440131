import { assert, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Result, type Schema } from "effect"
import { Generator } from "../src/Generator.ts"
import ScriptedDriver, { scriptOf } from "../src/ScriptedDriver.ts"
import type { Script } from "../src/ScriptedGenerator.ts"
import type { ServedModel } from "../src/ServedModel.ts"
import { request } from "./Requests.ts"

type ModelOptions = ServedModel["driver"]["options"]

const named = (options: ModelOptions) => request("a", { model: { name: "drill", options } })

/** The problems of a model with these options. */
const problemsOf = (options: ModelOptions) =>
  ScriptedDriver.check({
    kind: "image",
    capabilities: ["text_to_image"],
    max_reference_images: 0,
    output_formats: ["image/png"],
    params_schema: [],
    driver: { options }
  })

it("reads a script from the options of a model", () => {
  const script = (options: Record<string, Schema.Json>) => {
    assert.deepStrictEqual(problemsOf(options), [])
    return scriptOf(named(options))
  }
  assert.deepInclude(script({}), { outcome: "succeed", failureRate: undefined, delay: undefined, bytes: undefined })
  assert.deepInclude(script({ delay: "2 seconds", bytes: 9 }), { delay: Duration.seconds(2), bytes: 9 })
  assert.deepInclude(script({ delay_min: "1 second", delay_max: "3 seconds" }), {
    delay: Duration.seconds(1),
    delayMax: Duration.seconds(3)
  })
  const codeOf = ({ outcome }: Script) => typeof outcome === "object" ? outcome.code : outcome
  const always = script({ failure: "upstream_timeout" })
  assert.deepStrictEqual([codeOf(always), always.failureRate], ["upstream_timeout", undefined])
  const sometimes = script({ failure_rate: 0.2 })
  assert.deepStrictEqual([codeOf(sometimes), sometimes.failureRate], ["generation_failed", 0.2])
  const both = script({ failure: "content_rejected", failure_rate: 0.5 })
  assert.deepStrictEqual([codeOf(both), both.failureRate], ["content_rejected", 0.5])
})

it("rejects invalid options of a model and names them", () => {
  const delays = "driver.options must be either delay, or delay_min and a delay_max of at least delay_min"
  const wrong: ReadonlyArray<readonly [options: ModelOptions, problem: string]> = [
    [{ delay: "soon" }, "driver.options.delay must be a valid Duration string"],
    [
      { dealy: "1 second" },
      "driver.options.dealy is not an option; options: delay, delay_min, delay_max, failure, failure_rate, bytes"
    ],
    [{ delay: "1 second", delay_min: "1 second", delay_max: "2 seconds" }, delays],
    [{ delay_min: "1 second" }, delays],
    [{ delay_max: "1 second" }, delays],
    [{ delay_min: "2 seconds", delay_max: "1 second" }, delays],
    [{ failure_rate: 1.5 }, "driver.options.failure_rate must be a value between 0 and 1"],
    [{ bytes: 0 }, "driver.options.bytes must be a value greater than 0"]
  ]
  for (const [options, problem] of wrong) {
    assert.deepStrictEqual(problemsOf(options).map(({ message, path }) => `${path.join(".")} ${message}`), [problem])
    assert.deepInclude(scriptOf(named(options)).outcome, { code: "invalid_input" })
  }
  assert.strictEqual(problemsOf({ failure: "bad_luck" }).length, 1)
})

it.effect("follows the options of the driver", () =>
  Effect.gen(function*() {
    const generatorWith = (options: unknown) =>
      Effect.map(
        Effect.flatMap(Effect.fromResult(ScriptedDriver.generator(options)), Layer.build),
        Context.get(Generator)
      )
    const plain = yield* generatorWith({})
    const drill = yield* generatorWith({ resubmit: "unsafe", poll_interval: "3 seconds" })
    assert.deepStrictEqual([plain.resubmit, drill.resubmit], ["safe", "unsafe"])
    const afterOf = (generator: Generator["Service"]) =>
      Effect.map(
        Effect.flatMap(generator.submit(named({ delay: "10 seconds" })), generator.poll),
        (status) => status._tag === "Pending" ? status.after : undefined
      )
    assert.deepStrictEqual(yield* afterOf(plain), Duration.millis(100))
    assert.deepStrictEqual(yield* afterOf(drill), Duration.seconds(3))
    assert.isTrue(Result.isFailure(ScriptedDriver.generator({ resubmit: "maybe" })))
  }))
