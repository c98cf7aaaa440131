/** What a generator is asked to make. */
import { Schema, type Stream } from "effect"
import type { GeneratorError } from "./GeneratorError.ts"

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

/** Media types of images that a generator may be given (D18). */
export const InputMime = Schema.Literals(["image/png", "image/jpeg", "image/webp"])
/** See the schema of the same name. */
export type InputMime = typeof InputMime.Type

/**
 * An image that the result is made from. It was decoded and written anew before:
 * whole, upright, in sRGB and without metadata.
 */
export interface InputImage {
  readonly mime: InputMime
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  /** Length of `body`. */
  readonly bytes: number
  /**
   * The file. Each run reads it anew, so a driver may read it again for another
   * attempt. `Permanent` when the image is gone for good.
   */
  readonly body: Stream.Stream<Uint8Array, GeneratorError>
}

/** One picture or video to make. */
export interface GenerationRequest {
  /**
   * Opaque, 1 to 128 characters, the same for every attempt at one job: the
   * idempotency key. Two requests with the same id are the same request.
   */
  readonly id: string
  readonly model: DriverModel
  readonly kind: Kind
  readonly mode: Mode
  readonly prompt: string
  /** The model's parameters with its defaults filled in (D17): `aspect_ratio`, `resolution`, `duration`, ... */
  readonly params: { readonly [name: string]: Schema.Json }
  /**
   * What `image_to_image` and `image_to_video` start from, in the client's order;
   * empty in other modes. Bodies are read during `submit` only: what a driver needs
   * of them later is part of its operation, or of what it sent to the provider.
   */
  readonly images: ReadonlyArray<InputImage>
  /** Where chance starts. Without it, the driver derives it from `id` or lets the provider choose. */
  readonly seed?: number | undefined
  readonly format: Format
}
