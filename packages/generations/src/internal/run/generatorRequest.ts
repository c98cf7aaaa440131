/** The generator of a job, and the request to it. */
import { Catalog } from "@kinora/catalog/Catalog"
import type { Model, OutputFormat } from "@kinora/catalog/Model"
import type { Format, GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { Generator } from "@kinora/generator/Generator"
import { Generators } from "@kinora/generator/Generators"
import { Effect, Option } from "effect"
import type { Generation } from "../../Generation.ts"

/** The model of a job and the generator that runs it. */
export interface Source {
  readonly generator: Generator["Service"]
  readonly model: Model
}

/** Makes a function that finds the source of a model's jobs. Returns `None` if this process cannot run the model. */
export const makeSourceOf = Effect.gen(function*() {
  const catalog = yield* Catalog
  const generators = yield* Generators

  return (id: string): Option.Option<Source> =>
    Option.gen(function*() {
      const model = yield* catalog.find(id)
      return { model, generator: yield* generators.get(model.driver.name) }
    })
})

/** Returns the generator request of a job. */
export const requestOf = (
  generation: Generation,
  model: Model,
  images: GenerationRequest["images"]
): GenerationRequest => ({
  id: generation.id,
  model: { name: model.id, options: model.driver.options },
  kind: generation.kind,
  mode: generation.mode,
  prompt: generation.prompt,
  params: generation.params,
  images,
  format: formats[model.output_formats[0]!]
})

/** Returns `true` for a media type that results can have. */
export const isResultMime = (mime: string): boolean => Object.hasOwn(formats, mime)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Formats of generators by the media types of models. */
const formats: Readonly<Record<OutputFormat, Format>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/webp": "webp",
  "video/mp4": "mp4",
  "video/webm": "webm"
}
