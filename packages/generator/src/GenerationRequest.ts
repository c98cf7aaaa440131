/** What a generator is asked to make. JSON, so that it can travel and be kept. */
import { Schema } from "effect"

/** What is made (D9). */
export const Kind = Schema.Literals(["image", "video"])
/** See the schema of the same name. */
export type Kind = typeof Kind.Type

/** From what it is made (D9). */
export const Mode = Schema.Literals(["text_to_image", "image_to_image", "text_to_video", "image_to_video"])
/** See the schema of the same name. */
export type Mode = typeof Mode.Type

/** The file format that is asked for. What was delivered is told by the output's `mime`. */
export const Format = Schema.Literals(["png", "jpeg", "webp", "mp4", "webm"])
/** See the schema of the same name. */
export type Format = typeof Format.Type

/** The model as its driver knows it, which is not the name that clients use. */
export const DriverModel = Schema.Struct({
  name: Schema.String,
  /** Whatever else the driver wants to be told about the model; the driver decodes it. */
  options: Schema.Record(Schema.String, Schema.Json)
})
/** See the schema of the same name. */
export type DriverModel = typeof DriverModel.Type

/** One picture or video to make. */
export const GenerationRequest = Schema.Struct({
  /**
   * Opaque, at most 128 characters, the same for every attempt at one job: the
   * idempotency key. Two requests with the same id are the same request.
   */
  id: Schema.NonEmptyString.check(Schema.isMaxLength(128)),
  model: DriverModel,
  kind: Kind,
  mode: Mode,
  prompt: Schema.String,
  /** The model's parameters with its defaults filled in (D17): `aspect_ratio`, `resolution`, `duration`, ... */
  params: Schema.Record(Schema.String, Schema.Json),
  /** Where chance starts. Without it, the driver derives it from `id` or lets the provider choose. */
  seed: Schema.optionalKey(Schema.Int),
  format: Format
})
/** See the schema of the same name. */
export type GenerationRequest = typeof GenerationRequest.Type
