import { Catalog, Parameters, Price } from "@kinora/catalog"
import { Console, Effect, Option, Result } from "effect"

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

const program = Effect.gen(function*() {
  const { find } = yield* Catalog.Catalog
  const model = Option.getOrThrow(find("ink-1"))
  const job = Result.getOrThrow(Parameters.resolve(model, { prompt: "a lighthouse", resolution: "2k" }))
  yield* Console.log(job.mode, job.params, Price.of(model, job))

  const issues = Result.getOrThrow(Result.flip(Parameters.resolve(model, { prompt: "", resolution: "8k" })))
  yield* Console.log(issues.map(({ message, path }) => `${path.join(".")} ${message}`))
})

await Effect.runPromise(Effect.provide(program, models))
// text_to_image { aspect_ratio: '1:1', resolution: '2k' } 9
// [ 'prompt must not be empty', 'resolution must be one of 1k, 2k' ]
