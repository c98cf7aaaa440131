/** The request to the generator of a job. */
import type { Model, OutputFormat } from "@kinora/catalog/Model"
import type { Format, GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { Generation } from "../../Generation.ts"

/** A model, with its options for the generator. */
export interface RequestedModel {
  readonly model: Model
  readonly options: GenerationRequest["model"]["options"]
}

/** Returns the generator request of a job. */
export const requestOf = (
  generation: Generation,
  { model, options }: RequestedModel,
  { callbackUrl, images }: Pick<GenerationRequest, "callbackUrl" | "images">
): GenerationRequest => ({
  id: generation.id,
  model: { name: model.id, options },
  kind: generation.kind,
  mode: generation.mode,
  prompt: generation.prompt,
  params: generation.params,
  images,
  callbackUrl,
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
