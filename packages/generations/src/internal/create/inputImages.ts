/** Takes the input images of a request: looks up its uploads, and normalises and keeps what was sent along (D18). */
import { DateTime, type Duration, Effect, Result } from "effect"
import { Base64 } from "effect/encoding"
import type { InputImage, UploadId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { ImageStore, type KeptImage } from "../../ImageStore.ts"
import { keyOf, makeKeeping } from "../images/imageIngest.ts"
import { makeTurns } from "./accountTurns.ts"
import type { Source } from "./imageSources.ts"

/** Limits of the images of requests. */
export interface InputOptions {
  /** The longest image, decoded, in bytes. */
  readonly imageBytesMax: number
  /** Requests whose images are in work at the same time. Each holds one image. */
  readonly imageRequestsMax: number
}

/** An image that a job is to be created with. */
export interface Input {
  readonly id: UploadId
  /** Whether it is an upload, which the account may have withdrawn by then. */
  readonly isUpload: boolean
  readonly image: InputImage
}

/** For how long the bytes of a request that makes no job may be left behind, at most: far longer than one takes. */
export const requestLimit: Duration.Input = "1 hour"

/** Builds what takes the images of requests and lets go of them. */
export const makeInputs = Effect.fnUntraced(function*({ imageBytesMax, imageRequestsMax }: InputOptions) {
  const images = yield* ImageStore
  const keeping = yield* makeKeeping({ imageBytesMax })
  // Accounts take turns, so that one with many slow images does not make the others wait for all of them.
  const inTurn = makeTurns(imageRequestsMax)

  const takeData = Effect.fnUntraced(function*(
    source: Extract<Source, { readonly _tag: "Data" }>,
    index: number,
    account: string
  ) {
    const bytes = yield* decode(source.base64)
    const keptUntil = DateTime.addDuration(yield* DateTime.now, requestLimit)
    const terms = { account, usableUntil: null, keptUntil }
    const image = yield* keeping.take(bytes, source.declared, terms, (image) => images.insert([image])).pipe(
      Effect.catchTag("Unreadable", ({ message }) => refuse(new GenerationError.InvalidImage({ index, message })))
    )
    return inputOf(image, index, false)
  })

  const findUploads = Effect.fnUntraced(function*(
    account: string,
    sources: ReadonlyArray<Source>,
    at: DateTime.Utc
  ) {
    const ids = sources.flatMap((source) => source._tag === "Upload" ? [source.id] : [])
    const found = ids.length === 0 ? [] : yield* images.findUsable(account, ids, at)
    return new Map(found.map((image) => [image.id, image]))
  })

  /** The uploads first, which cost nothing; then what was sent along, one by one. */
  const takeAll = Effect.fnUntraced(function*(
    account: string,
    sources: ReadonlyArray<Source>,
    at: DateTime.Utc
  ) {
    const uploads = yield* findUploads(account, sources, at)
    for (const [index, source] of sources.entries()) {
      if (source._tag === "Data") continue
      const upload = uploads.get(source.id)
      if (upload === undefined) return yield* refuse(new GenerationError.UploadNotFound({ index }))
      if (source.declared !== undefined && source.declared.toLowerCase() !== upload.mime) {
        const message = `mime is not the type of the upload, which is ${upload.mime}.`
        return yield* refuse(new GenerationError.InvalidImage({ index, message }))
      }
    }
    const inputs: Array<Input> = []
    const taking = Effect.forEach(
      sources,
      (source, index) =>
        source._tag === "Upload"
          ? Effect.succeed(inputOf(uploads.get(source.id)!, index, true))
          : Effect.tap(takeData(source, index, account), (input) => Effect.sync(() => inputs.push(input)))
    )
    // No unit has begun, so nobody can have been told of them.
    return yield* Effect.onError(taking, () => discard(inputs))
  })

  const discard = (inputs: ReadonlyArray<Input>) =>
    keeping.discard(inputs.filter(({ isUpload }) => !isUpload).map(({ id }) => id))

  return {
    /** The images of a request, in its order; or the refusal of one of them, and then nothing is kept. */
    take: Effect.fn("Generations.takeImages")(
      function*(account: string, sources: ReadonlyArray<Source>, at: DateTime.Utc) {
        const nothing: ReadonlyArray<Input> = []
        return sources.length === 0 ? nothing : yield* inTurn(account)(takeAll(account, sources, at))
      }
    ),

    /** Deletes what was sent along with a request that made no job. */
    discard
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refuse = (reason: GenerationError.Refusal) => Effect.fail(new GenerationError.GenerationError({ reason }))

const inputOf = ({ bytes, height, id, mime, width }: KeptImage, index: number, isUpload: boolean): Input => ({
  id,
  isUpload,
  image: { index, mime, width, height, key: keyOf(id), bytes }
})

/** Letters that are decoded before others get their turn: some milliseconds of work. */
const lettersMax = 1024 * 1024

/** The bytes of base64 that was checked. In pieces, so that the process goes on with other work in between. */
const decode = Effect.fnUntraced(function*(base64: string) {
  const bytes = new Uint8Array(Math.floor(base64.length / 4 * 3))
  let length = 0
  for (let start = 0; start < base64.length; start += lettersMax) {
    const piece = Result.getOrThrow(Base64.decode(base64.slice(start, start + lettersMax)))
    bytes.set(piece, length)
    length += piece.length
    yield* Effect.yieldNow
  }
  return bytes.subarray(0, length)
})
