import { assert, describe, it } from "@effect/vitest"
import { PlanTable } from "@kinora/accounts"
import { DefaultModels, type Model } from "@kinora/catalog"
import { Generators } from "@kinora/generator"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Yaml } from "effect/encoding"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Drivers from "../../src/Drivers.ts"
import * as Settings from "../../src/Settings.ts"
import * as tables from "./configurationTables.ts"
import { code, expectFile, expectTables, read } from "./Page.ts"

const page = "reference/configuration.md"
const document = read(page)

/** Loads settings from a file with this text. */
const load = (text: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-configuration-"))),
    (directory) =>
      Effect.gen(function*() {
        const path = join(directory, "kinora.config.yaml")
        yield* Effect.promise(() => writeFile(path, text))
        return yield* Settings.load({ ...environment, KINORA_CONFIG: path })
      }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

/** Returns the YAML of a page. */
const yamlOf = (text: string) => Array.from(text.matchAll(/^```yaml\n(.*?)^```$/gms), ([, example = ""]) => example)

const examples = Effect.map(document, yamlOf)

/** A model of the driver with this name. */
const named = (driver: string) => ({ ...DefaultModels.draft, id: driver, driver: { name: driver } })

/** The default and the description of each field of a model. */
const modelFields: Readonly<Record<keyof typeof Model.Model.fields, readonly [fallback: string, description: string]>> =
  {
    id: ["", "the id that clients send: lower-case letters, digits, `.`, `_`, `-`, at most 64 characters; unique"],
    aliases: [
      "none",
      "other ids of the model that requests can use, at most 16: each an `id`, and optionally `defaults` of parameters"
    ],
    name: ["", "name for people, at most 100 characters"],
    description: ["empty", "what the model is, for operators, at most 2,000 characters; clients do not see it"],
    kind: ["", "`image` or `video`; also the daily quota that a Studio job counts in"],
    status: [
      "`available`",
      "`degraded` is served, slower; `paused` accepts no new jobs; `withdrawn` is not listed, and its waiting jobs fail"
    ],
    studio_eligible: ["`false`", "whether the Studio plan includes it"],
    capabilities: ["", "modes of its kind: `text_to_image`, `image_to_image`, `text_to_video`, `image_to_video`"],
    max_reference_images: ["`0`", "input images per job, at most 16 and at most what the driver supports"],
    max_prompt_chars: ["", "Unicode code points of a prompt"],
    params_schema: ["", "parameters that a job can have"],
    price_table: ["", "credits per job; of the matching rows, the one with the most parameters applies"],
    driver: [
      "",
      "`name` of the driver, `options` of the model for it, `concurrency` and `fallbacks` ([several upstreams](../how-to/use-several-upstreams.md))"
    ],
    time_limit: ["", "a job that runs longer fails and is refunded: `90 seconds`, `10 minutes`"],
    response_format: ["`url`", "`url` or `b64_json`: default of the image endpoint for this model"],
    output_formats: ["", "media types of its results; the driver is asked for the first"]
  }

describe("docs/reference/kinora.config.schema.json", () => {
  const validate = new Ajv2020({ allErrors: true }).compile(Settings.jsonSchema)

  it.effect("is the schema of the configuration file", () =>
    expectFile("reference/kinora.config.schema.json", `${JSON.stringify(Settings.jsonSchema, undefined, 2)}\n`))

  it.effect("accepts the examples, and rejects unknown keys and wrong values", () =>
    Effect.gen(function*() {
      for (const example of yield* examples) {
        assert.isTrue(validate(Yaml.parse(example)), JSON.stringify(validate.errors))
      }
      const wrong = [
        { prot: 4747 },
        { port: 70_000 },
        { workers: "many" },
        { metrics: "perhaps" },
        { models: [{ id: "x" }] },
        { models: [{ ...DefaultModels.draft, colour: "red" }] },
        { plans: { studio: { gold: {} } } }
      ]
      for (const file of wrong) assert.isFalse(validate(file), JSON.stringify(file))
    }))
})

describe("docs/reference/configuration.md", () => {
  it.effect("lists every setting, and every field of the sections of the file", () =>
    expectTables(page, {
      ...tables,
      settings: {
        head: ["variable", "key", "default", "value", "description"],
        rows: Settings.docs.map(({ about, default: fallback, expected, key, variable }) => [
          code(variable),
          code(key),
          code(fallback),
          expected,
          about
        ])
      },
      model: {
        head: ["field", "default", "description"],
        rows: Object.entries(modelFields).map((
          [field, [fallback, description]]
        ) => [code(field), fallback, description])
      }
    }))

  it.effect("explains every setting", () =>
    Effect.gen(function*() {
      const text = yield* document
      for (const { key } of Settings.docs) assert.include(text, `\n- \`${key}\`: `)
    }))

  it.effect("shows a file whose values are the defaults", () =>
    Effect.gen(function*() {
      const [defaults = ""] = yield* examples
      // Only where the values come from differs.
      const withoutSources = (settings: Settings.Settings) => ({ ...settings, shown: [] })
      assert.deepStrictEqual(withoutSources(yield* load(defaults)), withoutSources(yield* load("")))
      // The commented lines are valid settings as well.
      const all = yield* load(defaults.replaceAll("# ", ""))
      const { adminToken, baseUrl, trustedProxies, urlSigningKeys, webhookKeys, webhookOwnDomains } = all
      assert.deepStrictEqual(all.webhookAllowedNetworks, ["10.20.0.0/16", "fd00:20::1"])
      assert.deepStrictEqual(all.workerModels, ["kinora-still"])
      assert.strictEqual(baseUrl, "https://media.example.com")
      assert.strictEqual(trustedProxies.length, 2)
      assert.isDefined(adminToken)
      assert.strictEqual(urlSigningKeys.length, 2)
      assert.strictEqual(webhookKeys.length, 1)
      assert.deepStrictEqual(webhookOwnDomains, ["example.com", "example.net"])
    }))

  it.effect("shows models that the catalog and the drivers accept", () =>
    Effect.gen(function*() {
      const [, example = ""] = yield* examples
      const context = yield* Layer.build(Drivers.layer(yield* load(example)))
      assert.deepStrictEqual(Context.get(context, Generators.Generators).names, ["procedural", "scripted"])
    }))

  it.effect("shows drivers that a host accepts", () =>
    Effect.gen(function*() {
      const [, , example = ""] = yield* examples
      const text = example.replace("./drivers/mine.ts", "\"@kinora/generator-procedural/ProceduralDriver\"")
      const models = `models: ${JSON.stringify(["mine", "drill-unsafe"].map(named))}\n`
      const settings = yield* load(text + models, { POLL_INTERVAL: "3 seconds" })
      const context = yield* Layer.build(Drivers.layer(settings))
      const { get, names } = Context.get(context, Generators.Generators)
      assert.deepStrictEqual(names, ["drill-unsafe", "mine"])
      assert.strictEqual(Option.getOrThrow(get("drill-unsafe")).resubmit, "unsafe")
    }))

  it.effect("shows the complete table of plans with its defaults", () =>
    Effect.gen(function*() {
      const plans = (yield* examples).find((example) => example.startsWith("plans:")) ?? ""
      const { planTable } = yield* load(plans)
      assert.deepStrictEqual(planTable, PlanTable.defaults)
      const written = Yaml.parse(plans)
      const encoded = Schema.encodeSync(PlanTable.PlanTable)(PlanTable.defaults)
      assert.deepStrictEqual(written, { plans: encoded })
    }))
})

describe("docs/how-to/use-several-upstreams.md", () => {
  it.effect("shows limits and a fallback that a host accepts", () =>
    Effect.gen(function*() {
      const settings = yield* load(yamlOf(yield* read("how-to/use-several-upstreams.md")).join(""))
      const context = yield* Layer.build(Drivers.layer(settings))
      const { limits, names } = Context.get(context, Generators.Generators)
      assert.deepStrictEqual(names, ["provider", "studio-gpu"])
      assert.deepStrictEqual([limits("studio-gpu").concurrency, limits("provider").requests_per_minute], [2, 60])
    }))
})
