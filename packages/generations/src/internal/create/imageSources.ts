/** Parses the images of the `images` parameter of a request. Decodes no bytes. */
import { Effect, Result } from "effect"
import { UploadId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { tooLongMessage } from "../images/imageIngest.ts"

/** An input image as the client names it. */
export type ImageSource =
  /** Sent with the request. The alphabet and the length are valid base64. */
  | { readonly _tag: "Data"; readonly base64: string; readonly declared: string | undefined }
  | { readonly _tag: "Upload"; readonly id: UploadId; readonly declared: string | undefined }

/** Returns an image of `params.images`. Fails with the refusal of an invalid one. */
export const parse = Effect.fnUntraced(function*(image: unknown, index: number, bytesMax: number) {
  const source = yield* Effect.fromResult(parseProperties(image, index, bytesMax))
  if (source._tag === "Data" && !(yield* hasBase64Alphabet(source.base64))) {
    return yield* Effect.fromResult(invalid(
      index,
      "data is not valid base64: it contains characters other than A-Z, a-z, 0-9, + and /."
    ))
  }
  return source
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Parsed = Result.Result<ImageSource, GenerationError.Refusal>

const properties: ReadonlyArray<string> = ["data", "mime", "upload_id"]

const parseProperties = (image: unknown, index: number, bytesMax: number): Parsed => {
  if (!isRecord(image)) return invalid(index, "An image must be an object with data or upload_id.")
  const unknown = Object.keys(image).find((name) => !properties.includes(name))
  if (unknown !== undefined) return invalid(index, `An image has no properties other than ${properties.join(", ")}.`)
  const { data, mime: declared, upload_id: upload } = image
  if (declared !== undefined && typeof declared !== "string") return invalid(index, "mime must be a string.")
  if ((data === undefined) === (upload === undefined)) {
    return invalid(index, "Provide exactly one of data and upload_id.")
  }
  return upload === undefined ? parseData(data, declared, index, bytesMax) : parseUpload(upload, declared, index)
}

const invalid = (index: number, message: string) => Result.fail(new GenerationError.InvalidImage({ index, message }))

const parseUpload = (upload: unknown, declared: string | undefined, index: number): Parsed => {
  if (typeof upload !== "string") return invalid(index, "upload_id must be a string.")
  const id = UploadId.parse(upload)
  return id === undefined
    ? Result.fail(new GenerationError.UploadNotFound({ index }))
    : Result.succeed({ _tag: "Upload", id, declared })
}

const parseData = (data: unknown, declared: string | undefined, index: number, bytesMax: number): Parsed => {
  if (typeof data !== "string") return invalid(index, "data must be a string.")
  const content = data.startsWith("data:") ? parseUrl(data) : { base64: data, mime: undefined }
  if (content === undefined) return invalid(index, "A data URL must have the form data:<type>;base64,<data>.")
  if (declared !== undefined && content.mime !== undefined && content.mime !== declared.toLowerCase()) {
    return invalid(index, `mime does not match the type of the data URL, ${content.mime}.`)
  }
  const problem = problemOf(content.base64, bytesMax)
  return problem === undefined
    ? Result.succeed({ _tag: "Data", base64: content.base64, declared: declared ?? content.mime })
    : invalid(index, problem)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Maximum length of the part of a data URL before its data. */
const headLengthMax = 128

/** Returns the data of a data URL and its type, if it names one. */
const parseUrl = (url: string): { readonly base64: string; readonly mime: string | undefined } | undefined => {
  const comma = url.slice(0, headLengthMax).indexOf(",")
  if (comma < 0) return undefined
  const [mime = "", ...parameters] = url.slice("data:".length, comma).toLowerCase().split(";")
  if (parameters.at(-1) !== "base64") return undefined
  return { base64: url.slice(comma + 1), mime: mime === "" ? undefined : mime }
}

/** Returns why a text is not the base64 of an image, judged by its length. */
const problemOf = (base64: string, bytesMax: number): string | undefined => {
  if (base64.length === 0) return "data must not be empty."
  if (base64.length % 4 !== 0) return "data is not valid base64: its length must be a multiple of 4."
  return base64.length / 4 * 3 - paddingOf(base64) > bytesMax ? tooLongMessage(bytesMax) : undefined
}

const paddingOf = (base64: string): number => base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0

/** Characters that are checked before the fiber yields: less than a millisecond of work. */
const charactersMax = 256 * 1024

/** Returns whether a text without its padding consists of the characters of base64. */
const hasBase64Alphabet = Effect.fnUntraced(function*(base64: string) {
  const end = base64.length - paddingOf(base64)
  for (let start = 0; start < end; start += charactersMax) {
    if (/[^A-Za-z0-9+/]/.test(base64.slice(start, Math.min(start + charactersMax, end)))) return false
    yield* Effect.yieldNow
  }
  return true
})
