/** What a request says of its input images (D18). Pure, and before anything is decoded. */
import { Result } from "effect"
import { UploadId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { tooLong } from "../images/imageIngest.ts"

/** An input image as the client names it. */
export type Source =
  /** Sent along. The alphabet and the length are those of base64. */
  | { readonly _tag: "Data"; readonly base64: string; readonly declared: string | undefined }
  | { readonly _tag: "Upload"; readonly id: UploadId; readonly declared: string | undefined }

/** The images of `params.images`, whose number was checked, or what is wrong with the first that is no image. */
export const parse = (
  images: unknown,
  bytesMax: number
): Result.Result<ReadonlyArray<Source>, GenerationError.Refusal> => {
  const sources: Array<Source> = []
  for (const [index, image] of (Array.isArray(images) ? images : []).entries()) {
    const source = parseOne(image, index, bytesMax)
    if (Result.isFailure(source)) return Result.fail(source.failure)
    sources.push(source.success)
  }
  return Result.succeed(sources)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const properties: ReadonlyArray<string> = ["data", "mime", "upload_id"]

const parseOne = (
  image: unknown,
  index: number,
  bytesMax: number
): Result.Result<Source, GenerationError.Refusal> => {
  const invalid = (message: string) => Result.fail(new GenerationError.InvalidImage({ index, message }))
  if (!isRecord(image)) return invalid("An image must be an object with either data or upload_id.")
  const unknown = Object.keys(image).find((name) => !properties.includes(name))
  if (unknown !== undefined) return invalid(`An image has the properties ${properties.join(", ")} and no other.`)
  const { data, mime: declared, upload_id: upload } = image
  if (declared !== undefined && typeof declared !== "string") return invalid("mime must be a string.")
  if ((data === undefined) === (upload === undefined)) return invalid("Give exactly one of data and upload_id.")
  if (upload !== undefined) {
    const id = typeof upload === "string" ? UploadId.parse(upload) : undefined
    if (id !== undefined) return Result.succeed({ _tag: "Upload", id, declared })
    return typeof upload === "string"
      ? Result.fail(new GenerationError.UploadNotFound({ index }))
      : invalid("upload_id must be a string.")
  }
  if (typeof data !== "string") return invalid("data must be a string.")
  const content = data.startsWith("data:") ? openUrl(data) : { base64: data, mime: undefined }
  if (content === undefined) return invalid("A data URL must be data:<type>;base64,<data>.")
  if (declared !== undefined && content.mime !== undefined && content.mime !== declared.toLowerCase()) {
    return invalid(`mime is not the type of the data URL, which is ${content.mime}.`)
  }
  const problem = problemOf(content.base64, bytesMax)
  if (problem !== undefined) return invalid(problem)
  return Result.succeed({ _tag: "Data", base64: content.base64, declared: declared ?? content.mime })
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Longest part of a data URL before its data. */
const headLengthMax = 128

/** What a data URL holds, and its type, if it names one. */
const openUrl = (url: string): { readonly base64: string; readonly mime: string | undefined } | undefined => {
  const comma = url.slice(0, headLengthMax).indexOf(",")
  if (comma < 0) return undefined
  const [mime = "", ...parameters] = url.slice("data:".length, comma).toLowerCase().split(";")
  if (parameters.at(-1) !== "base64") return undefined
  return { base64: url.slice(comma + 1), mime: mime === "" ? undefined : mime }
}

/** Why a text cannot be an image in base64, by its length and its letters. */
const problemOf = (base64: string, bytesMax: number): string | undefined => {
  if (base64.length === 0) return "data must not be empty."
  if (base64.length % 4 !== 0) return "data is not base64: its length must be a multiple of 4."
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0
  if (base64.length / 4 * 3 - padding > bytesMax) return tooLong(bytesMax)
  return /[^A-Za-z0-9+/]/.test(base64.slice(0, base64.length - padding))
    ? "data is not base64: it has other characters than A-Z, a-z, 0-9, + and /."
    : undefined
}
