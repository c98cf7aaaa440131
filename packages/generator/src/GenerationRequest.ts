/** The request that a worker submits to a generator. */
import { Schema, type Stream } from "effect"
import type { GeneratorError } from "./GeneratorError.ts"

/** Kind of result. */
export const Kind = Schema.Literals(["image", "video"])
/** Type of `Kind`. */
export type Kind = typeof Kind.Type

/** Kind of input and kind of result. */
export const Mode = Schema.Literals(["text_to_image", "image_to_image", "text_to_video", "image_to_video"])
/** Type of `Mode`. */
export type Mode = typeof Mode.Type

/** Requested file format. `Output.mime` is the format of the result. */
export const Format = Schema.Literals(["png", "jpeg", "webp", "mp4", "webm"])
/** Type of `Format`. */
export type Format = typeof Format.Type

/** The model in the terms of its driver. Clients use another name. */
export const DriverModel = Schema.Struct({
  name: Schema.String,
  /** Options of the model for the driver, which decodes them. */
  options: Schema.Record(Schema.String, Schema.Json)
})
/** Type of `DriverModel`. */
export type DriverModel = typeof DriverModel.Type

/** Media type of an input image. */
export const InputMime = Schema.Literals(["image/png", "image/jpeg", "image/webp"])
/** Type of `InputMime`. */
export type InputMime = typeof InputMime.Type

/**
 * An input image. The service has decoded and re-encoded it: it is complete, upright, in
 * sRGB and without metadata.
 */
export interface InputImage {
  readonly mime: InputMime
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  /** Length of `body` in bytes. */
  readonly bytes: number
  /**
   * The file. Each run of the stream reads it from the start, so a driver can read it
   * again for another attempt. Fails with `Permanent` if the image no longer exists.
   */
  readonly body: Stream.Stream<Uint8Array, GeneratorError>
}

/** A request for one image or video. */
export interface GenerationRequest {
  /**
   * Idempotency key: opaque, 1 to 128 characters, the same for every attempt of a job.
   * Two requests with the same id are the same request.
   */
  readonly id: string
  readonly model: DriverModel
  readonly kind: Kind
  readonly mode: Mode
  readonly prompt: string
  /** Parameters of the model with defaults filled in: `aspect_ratio`, `resolution`, `duration`, ... */
  readonly params: { readonly [name: string]: Schema.Json }
  /**
   * Input images of `image_to_image` and `image_to_video`, in the order of the client;
   * empty in other modes. Bodies can be read during `submit` only. A driver that needs
   * them later stores them in its operation or with the provider.
   */
  readonly images: ReadonlyArray<InputImage>
  /** Random seed. If absent, the driver derives it from `id` or leaves it to the provider. */
  readonly seed?: number | undefined
  readonly format: Format
  /**
   * URL to which the provider can send a `POST` with any body when the work may have ended, so that
   * it is polled immediately. Contains a secret: do not log or store it. Present only if the
   * driver has `callsBack`; such a driver passes it on.
   */
  readonly callbackUrl?: string | undefined
}
