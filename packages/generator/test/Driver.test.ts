import { assert, it } from "@effect/vitest"
import { Context, Data, Effect, Layer, Redacted, Result, Schema } from "effect"
import * as Driver from "../src/Driver.ts"
import { Generator } from "../src/Generator.ts"
import * as ScriptedGenerator from "../src/ScriptedGenerator.ts"
import { unsupported } from "../src/ServedModel.ts"
import type { Problem, ServedModel } from "../src/ServedModel.ts"
import { request } from "./Requests.ts"

const model: ServedModel = {
  kind: "image",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 4,
  output_formats: ["image/webp", "image/png"],
  params_schema: [
    { name: "aspect_ratio", type: "string", values: ["1:1", "16:9"] },
    { name: "duration", type: "int", min: 1, max: 10 },
    { name: "hd", type: "boolean" }
  ],
  driver: { options: {} }
}

const modelWith = (options: ServedModel["driver"]["options"]): ServedModel => ({ ...model, driver: { options } })

/** Options that the drivers of these tests were started with. */
const started: Array<unknown> = []

const ModelOptions = Schema.Struct({
  size: Schema.Literals(["small", "large"]),
  steps: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(20))
  )
})

const driver = Driver.make({
  options: Schema.Struct({
    api_key: Driver.Secret,
    base_url: Schema.String.check(Schema.isPattern(/^https:/, { expected: "an HTTPS URL" })),
    retries: Schema.optionalKey(Schema.Int),
    headers: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  modelOptions: ModelOptions,
  supports: { modes: ["text_to_image", "image_to_image"] },
  check: ({ max_reference_images }, { size }) =>
    size === "small" && max_reference_images > 1
      ? [{ path: ["max_reference_images"], message: "must be at most 1 if size is small" }]
      : [],
  layer: (options) => {
    started.push(options)
    return ScriptedGenerator.layer.pipe(Layer.provide(ScriptedGenerator.layerControl()))
  }
})

const problemsOf = (result: Result.Result<unknown, ReadonlyArray<Problem>>) =>
  Result.isFailure(result) ? lines(result.failure) : []

const lines = (problems: ReadonlyArray<Problem>) => problems.map(({ message, path }) => `${path.join(".")} ${message}`)

it.effect("builds a generator with decoded options", () =>
  Effect.gen(function*() {
    const options = { api_key: "hunter2", base_url: "https://example.com" }
    const layer = yield* Effect.fromResult(driver.generator(options))
    const generator = Context.get(yield* Layer.build(layer), Generator)
    assert.strictEqual((yield* Effect.flatMap(generator.submit(request("a")), generator.poll))._tag, "Succeeded")
    assert.deepStrictEqual(started, [{ api_key: Redacted.make("hunter2"), base_url: "https://example.com" }])
  }))

it("returns every problem of the options, and never their values", () => {
  const api_key = "hunter2\n"
  const problems = problemsOf(driver.generator({ api_key, base_url: "hunter2", headers: ["a", 1], hunter: "hunter2" }))
  assert.deepStrictEqual(problems, [
    "hunter is not an option; options: api_key, base_url, retries, headers",
    "api_key must be a secret of 1 to 4096 characters without line breaks and surrounding spaces",
    "base_url must be an HTTPS URL",
    "headers.1 must be a string"
  ])
  assert.deepStrictEqual(problemsOf(driver.generator({})), ["api_key must be given", "base_url must be given"])
  assert.deepStrictEqual(problemsOf(driver.generator("hunter2")), [" must be a mapping"])
})

it("rejects secrets that are empty, too long or have spaces around them", () => {
  const accepted = (secret: unknown) => Result.isSuccess(Schema.decodeUnknownResult(Driver.Secret)(secret))
  for (const secret of ["k", "two words", "s".repeat(4096)]) assert.isTrue(accepted(secret), secret)
  for (const secret of ["", " ", "k ", "a\tb", "a\r\nb", "s".repeat(4097), 7, null]) {
    assert.isFalse(accepted(secret), String(secret))
  }
})

it("rejects options of a driver and of a model without options", () => {
  const plain = Driver.make({ layer: () => Layer.effect(Generator, Effect.never) })
  assert.isTrue(Result.isSuccess(plain.generator({})))
  assert.deepStrictEqual(problemsOf(plain.generator({ key: 1 })), ["key must be absent: there are no options"])
  assert.deepStrictEqual(lines(plain.check(model)), [])
  assert.deepStrictEqual(lines(plain.check(modelWith({ size: "small" }))), [
    "driver.options.size must be absent: there are no options"
  ])
})

class DriverFailure extends Data.TaggedError("DriverFailure")<{}> {
  override get message(): string {
    return "no such file"
  }
}

it.effect("fails with a DriverError whose message is that of the failure", () =>
  Effect.gen(function*() {
    const failing = Driver.make({ layer: () => Layer.effect(Generator, Effect.fail(new DriverFailure())) })
    const layer = yield* Effect.fromResult(failing.generator({}))
    const error = yield* Effect.flip(Layer.build(layer))
    assert.strictEqual(error._tag, "DriverError")
    assert.strictEqual(error.message, "no such file")
  }))

it("returns every problem of a model", () => {
  assert.deepStrictEqual(lines(driver.check(modelWith({ size: "large" }))), [])
  assert.deepStrictEqual(
    lines(driver.check({ ...modelWith({ size: "huge", step: 3 }), capabilities: ["text_to_video"] })),
    [
      "capabilities.0 must be one of the modes of the driver: text_to_image, image_to_image",
      "driver.options.step is not an option; options: size, steps",
      "driver.options.size must be \"small\" | \"large\""
    ]
  )
  assert.deepStrictEqual(lines(driver.check(modelWith({ size: "small" }))), [
    "max_reference_images must be at most 1 if size is small"
  ])
})

it("compares a model with the capabilities of its driver", () => {
  const problems = (supported: Parameters<typeof unsupported>[1]) => lines(unsupported(model, supported))
  assert.deepStrictEqual(problems({}), [])
  assert.deepStrictEqual(problems({ imagesMax: 4, outputFormats: ["image/webp"] }), [])
  assert.deepStrictEqual(
    problems({ params: { aspect_ratio: ["1:1", "16:9", "3:2"], duration: "any", hd: [true, false] } }),
    []
  )
  assert.deepStrictEqual(problems({ modes: ["text_to_image"], imagesMax: 0, outputFormats: ["image/png"] }), [
    "capabilities.1 must be one of the modes of the driver: text_to_image",
    "max_reference_images must be at most 0, the maximum of the driver",
    "output_formats.0 must be one of the formats of the driver: image/png"
  ])
  assert.deepStrictEqual(problems({ params: { aspect_ratio: ["1:1"], duration: [4, 8] } }), [
    "params_schema.0.values.1 must be one of the values of the driver: 1:1",
    "params_schema.1.values must be given, and each must be one of the values of the driver: 4, 8",
    "params_schema.2.name must be one of the parameters of the driver: aspect_ratio, duration"
  ])
})

it("does not support a parameter with the name of an inherited property", () => {
  const inherited = { ...model, params_schema: [{ name: "constructor", type: "boolean" as const }] }
  assert.strictEqual(unsupported(inherited, { params: {} }).length, 1)
})

it.effect("decodes the options of a request's model, with defaults", () =>
  Effect.gen(function*() {
    const optionsOf = Driver.optionsOf(ModelOptions)
    const named = (options: ServedModel["driver"]["options"]) => request("a", { model: { name: "any", options } })
    assert.deepStrictEqual(yield* optionsOf(named({ size: "small" })), { size: "small", steps: 20 })
    const { reason } = yield* Effect.flip(optionsOf(named({ size: "huge" })))
    assert.deepInclude(reason, { _tag: "Permanent", code: "generation_failed", reason: "internal" })
  }))

it("recognizes drivers", () => {
  assert.isTrue(Driver.isDriver(driver))
  for (const other of [undefined, null, {}, driver.generator, { default: driver }]) {
    assert.isFalse(Driver.isDriver(other))
  }
})
