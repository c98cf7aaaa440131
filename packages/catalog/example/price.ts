import { Catalog, Parameters, Price } from "@kinora/catalog"
import { Effect, Option, Result } from "effect"

/** What a service reads from its configuration. */
const models = Catalog.layer([{
  id: "ink-1",
  name: "Ink",
  kind: "image",
  capabilities: ["text_to_image"],
  max_prompt_chars: 500,
  params_schema: [
    { name: "aspect_ratio", type: "string", default: "1:1", values: ["1:1", "3:2", "2:3"] },
    { name: "resolution", type: "string", default: "1k", values: ["1k", "2k"] }
  ],
  price_table: [
    { params: {}, credits: 4 },
    { params: { resolution: "2k" }, credits: 9 }
  ],
  driver: { name: "my-engine" },
  time_limit: "2 minutes",
  output_formats: ["image/png"]
}])

/** The price of what a request asks for, or everything that is wrong with it. */
const quote = Effect.fn("quote")(function*(id: string, params: unknown) {
  const { find } = yield* Catalog.Catalog
  const model = Option.getOrThrow(find(id))
  return Result.map(Parameters.resolve(model, params), (job) => ({ ...job, credits: Price.of(model, job) }))
})

export const quotes = Effect.all([
  quote("ink-1", { prompt: "a lighthouse", resolution: "2k" }),
  quote("ink-1", { prompt: "", resolution: "8k" })
]).pipe(Effect.provide(models))
