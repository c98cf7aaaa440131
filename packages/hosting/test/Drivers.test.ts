import { assert, it } from "@effect/vitest"
import { DefaultModels, type Model } from "@kinora/catalog"
import {
  Driver,
  type GenerationRequest,
  Generator,
  GeneratorError,
  Generators,
  ScriptedDriver
} from "@kinora/generator"
import { Context, Data, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Drivers from "../src/Drivers.ts"
import { clientParams } from "../src/Services.ts"
import * as Settings from "../src/Settings.ts"

/** The default model with these changes. */
const draft = (changes: Partial<Model.ModelInput>) => ({ ...DefaultModels.draft, ...changes })

/** Returns the lines of the error of a start, without the first. */
const problemsOf = (options: Drivers.DriversOptions) =>
  Effect.map(Effect.flip(Layer.build(Drivers.layer(options))), (error) => {
    assert.instanceOf(error, Drivers.InvalidDrivers)
    const [first, ...lines] = error.message.split("\n  ")
    assert.match(first ?? "", /^\d+ problems? in the configuration of drivers and models$/)
    return lines
  })

/** Names of the drivers that are built. */
const namesOf = (options: Drivers.DriversOptions) =>
  Effect.map(Layer.build(Drivers.layer(options)), (context) => Context.get(context, Generators.Generators).names)

const engine = (options: { readonly prefix: string }): Generator.Generator["Service"] => ({
  resubmit: "safe",
  submit: ({ id }) => Effect.succeed(`${options.prefix}${id}`),
  poll: () => Effect.succeed(Generator.succeeded),
  cancel: () => Effect.void,
  collect: () => Effect.fail(new GeneratorError.GeneratorError({ reason: new GeneratorError.Lost() }))
})

const Mine = Driver.make({
  options: Schema.Struct({ prefix: Schema.NonEmptyString, api_key: Schema.optionalKey(Driver.Secret) }),
  modelOptions: Schema.Struct({ size: Schema.Literals(["s", "l"]) }),
  supports: { modes: ["text_to_image"] },
  layer: (options) => Layer.succeed(Generator.Generator, engine(options))
})

const requestFor = (
  name: string,
  options: GenerationRequest.DriverModel["options"] = {}
): GenerationRequest.GenerationRequest => ({
  id: "a",
  model: { name, options },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake",
  params: {},
  images: [],
  format: "png"
})

/** Writes these files into a directory, and loads settings from `kinora.config.yaml` in it. */
const withFiles = <A, E, R>(
  files: Readonly<Record<string, string>>,
  use: (settings: Settings.Settings) => Effect.Effect<A, E, R>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-drivers-"))),
    (directory) =>
      Effect.gen(function*() {
        for (const [name, text] of Object.entries(files)) {
          yield* Effect.promise(() => mkdir(join(directory, name, ".."), { recursive: true }))
          yield* Effect.promise(() => writeFile(join(directory, name), text))
        }
        const path = join(directory, "kinora.config.yaml")
        return yield* Effect.flatMap(Settings.load({ ...environment, KINORA_CONFIG: path }), use)
      }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

const generatorModule = import.meta.resolve("@kinora/generator")
const effectModule = import.meta.resolve("effect")

/** Source of a driver whose operations start with the option `prefix`. */
const driverSource = `
import { Driver, Generator } from "${generatorModule}"
import { Effect, Layer, Schema } from "${effectModule}"

export default Driver.make({
  options: Schema.Struct({ prefix: Schema.String, api_key: Schema.optionalKey(Driver.Secret) }),
  layer: ({ prefix }) => Layer.succeed(Generator.Generator, {
    resubmit: "safe",
    submit: (request) => Effect.succeed(prefix + request.id),
    poll: () => Effect.succeed(Generator.succeeded),
    cancel: () => Effect.void,
    collect: () => Effect.never
  })
})
`

const model = (driver: string, options = "{}") => `
  - id: poster-1
    name: Poster
    kind: image
    capabilities: [text_to_image]
    max_prompt_chars: 100
    params_schema: []
    price_table: [{ params: {}, credits: 1 }]
    driver: { name: ${driver}, options: ${options} }
    time_limit: 1 minute
    output_formats: [image/png]
`

it.effect("builds the drivers that the models use", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* namesOf({}), ["procedural"])
    const models = [draft({ driver: { name: "scripted" } })]
    assert.deepStrictEqual(yield* namesOf({ models }), ["scripted"])
  }))

it.effect("builds drivers of the program with their options", () =>
  Effect.gen(function*() {
    const models = [draft({ driver: { name: "mine", options: { size: "s" } } })]
    const drivers = { mine: { driver: Mine, options: { prefix: "p-" } } }
    const context = yield* Layer.build(Drivers.layer({ drivers, models }))
    const { get } = Context.get(context, Generators.Generators)
    const generator = yield* Effect.fromOption(get("mine"))
    assert.deepStrictEqual(
      yield* generator.submit(requestFor("draft")),
      "p-a"
    )
  }))

it.effect("lists every problem of drivers and models, without values", () =>
  Effect.gen(function*() {
    const models = [
      draft({ driver: { name: "mine", options: { size: "xl", steps: 3 } } }),
      draft({ id: "b", driver: { name: "painter" } }),
      draft({ id: "c", time_limit: "0 seconds" }),
      draft({ id: "d", driver: { name: "procedural", options: { style: "ink" } }, output_formats: ["image/png"] }),
      draft({ id: "e", status: "withdrawn", driver: { name: "gone" } })
    ]
    const drivers = {
      mine: { driver: Mine, options: { prefix: "", api_key: "hunter2\n", hunter: "hunter2" } },
      drill: { driver: ScriptedDriver.default, options: { poll_interval: "often" } }
    }
    assert.deepStrictEqual(yield* problemsOf({ drivers, models }), [
      "drivers.mine.options.hunter: is not an option; options: prefix, api_key",
      "drivers.mine.options.prefix: must be a value with a length of at least 1",
      "drivers.mine.options.api_key: must be a secret of 1 to 4096 characters without line breaks and surrounding spaces",
      "drivers.drill.options.poll_interval: must be a valid Duration string",
      "models[2].time_limit: must be finite and longer than 0",
      "models.kinora-draft.driver.options.steps: is not an option; options: size",
      "models.kinora-draft.driver.options.size: must be \"s\" | \"l\"",
      "models.b.driver.name: must be one of the drivers: drill, mine, procedural, scripted",
      "models.d.driver.options.style: must be absent: there are no options"
    ])
  }))

it.effect("rejects models that the procedural driver cannot serve", () =>
  Effect.gen(function*() {
    const { still } = DefaultModels
    assert.deepStrictEqual(yield* problemsOf({ models: [{ ...still, max_reference_images: 5 }] }), [
      "models.kinora-still.max_reference_images: must be at most 4, the maximum of the driver"
    ])
    const ratio = { name: "aspect_ratio", type: "string", values: ["1:1", "21:9"] } as const
    const problems = yield* problemsOf({
      models: [draft({ params_schema: [ratio], price_table: [{ params: {}, credits: 1 }] })]
    })
    assert.strictEqual(problems.length, 1)
    assert.match(problems[0] ?? "", /^models\.kinora-draft\.params_schema\[0\]\.values\[1\]: must be one of /)
  }))

it.effect("rejects parameters that the HTTP API does not have", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(clientParams, { aspect_ratio: "string", duration: "int", resolution: "string" })
    const seed = { name: "seed", type: "int", min: 0, max: 9 } as const
    const models = [draft({ params_schema: [seed], driver: { name: "scripted" } })]
    assert.deepStrictEqual(yield* problemsOf({ models }), [
      "models[0].params_schema[0].name: must be one of the parameters that clients can set: " +
      "aspect_ratio, duration, resolution"
    ])
  }))

class NoWeights extends Data.TaggedError("NoWeights")<{}> {
  override get message(): string {
    return "the weights are missing"
  }
}

it.effect("names the driver that could not start", () =>
  Effect.gen(function*() {
    const driver = Driver.make({ layer: () => Layer.effect(Generator.Generator, Effect.fail(new NoWeights())) })
    const models = [draft({ driver: { name: "mine" } })]
    const error = yield* Effect.flip(Layer.build(Drivers.layer({ drivers: { mine: { driver } }, models })))
    assert.strictEqual(error.message, "The driver mine could not start: the weights are missing")
  }))

it.effect("loads drivers of the configuration file by path and by package", () =>
  withFiles(
    {
      "drivers/mine.mjs": driverSource,
      "node_modules/some-driver/package.json":
        `{ "type": "module", "exports": { "./fast": { "import": "./fast.js" } } }`,
      "node_modules/some-driver/fast.js": driverSource,
      "kinora.config.yaml": `
drivers:
  mine: { module: ./drivers/mine.mjs, options: { prefix: file-, api_key: { env: MINE_KEY } } }
  packaged: { module: some-driver/fast, options: { prefix: { env: PREFIX } } }
  drill: "@kinora/generator/ScriptedDriver"
models:${model("mine")}${model("packaged").replace("poster-1", "poster-2")}${
        model("drill").replace("poster-1", "poster-3")
      }`
    },
    Effect.fnUntraced(function*(settings) {
      const context = yield* Layer.build(Drivers.layer(settings))
      const { get, names } = Context.get(context, Generators.Generators)
      assert.deepStrictEqual(names, ["drill", "mine", "packaged"])
      const submit = Effect.fnUntraced(function*(name: string) {
        const generator = yield* Effect.fromOption(get(name))
        return yield* generator.submit(requestFor(name))
      })
      assert.strictEqual(yield* submit("mine"), "file-a")
      assert.strictEqual(yield* submit("packaged"), "env-a")
    }),
    { MINE_KEY: "hunter2", PREFIX: "env-" }
  ))

it.effect("lists every problem of limits and of fallbacks", () =>
  withFiles(
    {
      "kinora.config.yaml": `
drivers:
  one: { module: "@kinora/generator/ScriptedDriver", limits: { concurrency: 0, requests_per_minute: 60, speed: 2 } }
  two: { module: "@kinora/generator/ScriptedDriver" }
models:${model("two", "{}, fallbacks: [{ name: absent }, { name: two }, { name: one, options: { bytes: 0 } }]")}`
    },
    Effect.fnUntraced(function*(settings) {
      assert.sameMembers(yield* problemsOf(settings), [
        "drivers.one.limits.concurrency: must be a value between 1 and 1000000",
        "drivers.one.limits.speed: is not an option; options: credential, per_worker, concurrency, requests_per_minute, failures_max, open_time, pause_after, callback_poll_max",
        "models.poster-1.driver.fallbacks[0].name: must be one of the drivers: one, procedural, scripted, two",
        "models.poster-1.driver.fallbacks[1].name: must be a driver that the model does not have already",
        "models.poster-1.driver.fallbacks[2].options.bytes: must be a value greater than 0"
      ])
    })
  ))

it.effect("lists every problem of drivers in the configuration file", () =>
  withFiles(
    {
      "plain.mjs": "export const driver = 1",
      "broken.mjs": "throw new Error('the engine is off\\nwith details')",
      "mine.mjs": driverSource,
      "kinora.config.yaml": `
drivers:
  Mine: ./mine.mjs
  list: [./mine.mjs]
  plain: ./plain.mjs
  broken: { module: ./broken.mjs }
  missing: { module: ./missing.mjs, option: {} }
  empty: { module: "" }
  absent: absent-package/driver
  keyed: { module: ./mine.mjs, options: { prefix: { env: ABSENT }, api_key: { env: EMPTY }, extra: 1 } }
models:${model("plain")}${model("mine").replace("poster-1", "poster-2")}`
    },
    Effect.fnUntraced(function*(settings) {
      const problems = yield* problemsOf(settings)
      const directory = settings.driverFile?.directory ?? ""
      assert.deepStrictEqual(
        problems.map((line) =>
          line.replaceAll("file://", "").replaceAll(directory, "").replaceAll(/ imported from .*/g, "")
        ),
        [
          "drivers.Mine: must be a name of at most 64 lower-case letters, digits, '.', '_' and '-'",
          "drivers.list: must be a module: a path such as ./drivers/mine.ts, or a package",
          "drivers.plain: must have a driver, created with Driver.make, as its default export",
          "drivers.broken.module: cannot be loaded: the engine is off",
          "drivers.missing.option: is not a key of a driver; keys: module, options, limits",
          "drivers.missing.module: cannot be loaded: Cannot find module '/missing.mjs'",
          "drivers.empty.module: must be a module: a path such as ./drivers/mine.ts, or a package",
          "drivers.absent: cannot be loaded: Cannot find package 'absent-package'",
          "drivers.keyed.options.prefix: must be set: the environment has no variable ABSENT",
          "drivers.keyed.options.api_key: must be set: the environment has no variable EMPTY",
          "drivers.Mine.options.prefix: must be given",
          "drivers.keyed.options.extra: is not an option; options: prefix, api_key",
          "models.poster-2.driver.name: must be one of the drivers: Mine, absent, broken, empty, keyed, list, missing, " +
          "plain, procedural, scripted"
        ]
      )
    }),
    { EMPTY: "" }
  ))

it.effect("rejects drivers that are not a mapping, and too many", () =>
  Effect.gen(function*() {
    const problemsWith = (content: unknown) =>
      problemsOf({
        driverFile: { content, directory: fileURLToPath(new URL(".", import.meta.url)), environment: Redacted.make({}) }
      })
    assert.deepStrictEqual(yield* problemsWith(["./mine.ts"]), ["drivers: must be a mapping from names to drivers"])
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`d${index}`, "./mine.ts"]))
    assert.deepStrictEqual(yield* problemsWith(many), ["drivers: must have at most 64 drivers"])
  }))

it.effect("starts with the configuration of the tutorial, and gets a picture", () =>
  Effect.gen(function*() {
    const tutorial = new URL("../../generator/", import.meta.url)
    const readme = yield* Effect.promise(() => readFile(new URL("README.md", tutorial), "utf8"))
    const [, config = ""] = /^```yaml\n(drivers:.*?)^```$/ms.exec(readme) ?? []
    const module = fileURLToPath(new URL("example/weave.ts", tutorial))
    yield* withFiles(
      { "kinora.config.yaml": config.replace("./drivers/weave.ts", module) },
      Effect.fnUntraced(function*(settings) {
        const context = yield* Layer.build(Drivers.layer(settings))
        const generator = yield* Effect.fromOption(Context.get(context, Generators.Generators).get("weave"))
        const operation = yield* generator.submit(requestFor("weave-1", { thread: "blue" }))
        const { body } = yield* generator.collect(operation)
        const [file] = yield* Stream.runCollect(body)
        assert.strictEqual(Buffer.from(file ?? []).toString("latin1", 1, 4), "PNG")
      })
    )
  }))
