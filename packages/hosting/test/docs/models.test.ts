/** Compares `docs/reference/models.md` with the default models, and checks the example of the guide to models. */
import { assert, describe, it } from "@effect/vitest"
import { Catalog, DefaultModels, type Model } from "@kinora/catalog"
import { Effect, Layer, Schema } from "effect"
import { Yaml } from "effect/encoding"
import * as Drivers from "../../src/Drivers.ts"
import { code, expectTables, read } from "./Page.ts"

const listOf = (values: ReadonlyArray<Model.ParamValue>) => values.map((value) => code(String(value))).join(", ")

/** Allowed values of a parameter, and its default unless that is the first of them. */
const valuesOf = ({ default: fallback, max, min, values }: Model.ParamSchema): string => {
  const allowed = values === undefined ? `${min} to ${max}` : listOf(values)
  return fallback === undefined || fallback === values?.[0] ? allowed : `${allowed}; default ${code(String(fallback))}`
}

/** Prices of the jobs of a model. Those that differ in the duration have one price per second. */
const pricesOf = ({ price_table }: Model.Model): ReadonlyArray<ReadonlyArray<string>> => {
  const prices = new Map<string, ReadonlyArray<string>>()
  for (const { credits, params: { duration, ...params } } of price_table) {
    const price = duration === undefined ? String(credits) : `${credits / Number(duration)} per second`
    const row = [listOf(Object.values(params)), price]
    prices.set(row.join(), row)
  }
  return Array.from(prices.values())
}

describe("docs/reference/models.md", () => {
  it.effect("lists the default models, their parameters and their prices", () =>
    Effect.gen(function*() {
      const models = yield* Effect.fromResult(Catalog.parse(DefaultModels.models))
      yield* expectTables("reference/models.md", {
        models: {
          head: ["model", "description", "modes", "input images", "Studio", "aliases"],
          rows: models.map(({ aliases, capabilities, description, id, max_reference_images, studio_eligible }) => [
            code(id),
            description,
            listOf(capabilities),
            max_reference_images === 0 ? "none" : `up to ${max_reference_images}`,
            studio_eligible ? "yes" : "no",
            listOf(aliases.map(({ id }) => id))
          ])
        },
        params: {
          head: ["model", "parameter", "values"],
          rows: models.flatMap(({ id, params_schema }) =>
            params_schema.map((param) => [code(id), code(param.name), valuesOf(param)])
          )
        },
        prices: {
          head: ["model", "job", "credits"],
          rows: models.flatMap((model) => pricesOf(model).map((row) => [code(model.id), ...row]))
        }
      })
    }))
})

describe("docs/how-to/choose-and-price-models.md", () => {
  it.effect("shows a configuration that a host accepts", () =>
    Effect.gen(function*() {
      const page = yield* read("how-to/choose-and-price-models.md")
      const [example = ""] = Array.from(page.matchAll(/^```yaml\n(.*?)^```$/gms), ([, text = ""]) => text)
      const { models } = Schema.decodeUnknownSync(Schema.Struct({ models: Schema.Json }))(Yaml.parse(example))
      assert.lengthOf(Object.values(models ?? []), 1)
      yield* Effect.scoped(Effect.asVoid(Layer.build(Drivers.layer({ models }))))
    }))
})
