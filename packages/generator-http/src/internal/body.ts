/** Bodies of requests, and input images for them. */
import type { GenerationRequest, InputImage } from "@kinora/generator/GenerationRequest"
import { GeneratorError } from "@kinora/generator/GeneratorError"
import { permanent } from "@kinora/generator/ProviderFailure"
import { Effect, type Schema, Stream } from "effect"
import { FormData } from "undici"

/** The body of a request. */
export type RequestBody =
  | { readonly json: Schema.Json }
  /** `multipart/form-data`, in this order. */
  | { readonly form: ReadonlyArray<FormPart> }

/** A part of a form: a field or a file. */
export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly mime: string; readonly bytes: Uint8Array<ArrayBuffer> }

/** An input image that was read to its end. */
export interface ReadImage {
  readonly mime: InputImage["mime"]
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Reads the input images of a request, in order. Fails if the length of an image differs from the declared one. */
export const readImages = ({ images }: GenerationRequest): Effect.Effect<ReadonlyArray<ReadImage>, GeneratorError> =>
  Effect.forEach(images, readImage)

/** Returns a `data:` URL with the image. */
export const dataUrlOf = ({ bytes, mime }: ReadImage): string =>
  `data:${mime};base64,${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}`

/** Returns a file name for an image: `name` with the extension of its media type. */
export const fileNameOf = (name: string, mime: string): string => `${name}.${mime.slice(mime.indexOf("/") + 1)}`

/** Encodes a body for undici, with the headers that it needs. A form sets its own. */
export const encodeBody = (body: RequestBody | undefined): {
  readonly body: string | FormData | undefined
  readonly headers: Readonly<Record<string, string>>
} => {
  if (body === undefined) return { body: undefined, headers: {} }
  if ("json" in body) return { body: JSON.stringify(body.json), headers: { "content-type": "application/json" } }
  const form = new FormData()
  for (const part of body.form) {
    if ("value" in part) form.append(part.name, part.value)
    else form.append(part.name, new Blob([part.bytes], { type: part.mime }), part.fileName)
  }
  return { body: form, headers: {} }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const readImage = Effect.fnUntraced(function*({ body, bytes: length, height, mime, width }: InputImage) {
  const bytes = new Uint8Array(length)
  const end = yield* Stream.runFoldEffect(body, () => 0, (at, part: Uint8Array) => {
    if (at + part.length > length) return Effect.fail(unequal)
    bytes.set(part, at)
    return Effect.succeed(at + part.length)
  })
  if (end !== length) return yield* unequal
  const image: ReadImage = { mime, width, height, bytes }
  return image
})

/** The service stores images with their length, so this is its own fault. */
const unequal = new GeneratorError({ reason: permanent("failed") })
