/** Input images of a request: looks up its uploads, and ingests the images sent with it. */
import * as Turns from "@kinora/media/Turns"
import { DateTime, Effect, Result } from "effect"
import { Base64 } from "effect/encoding"
import type { InputImage, UploadId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { ImageStore, type KeptImage } from "../../ImageStore.ts"
import { imageKey, makeImageIngest, requestLimit } from "../images/imageIngest.ts"
import { type InputPixelsOptions, makeInputPixels } from "../images/inputPixels.ts"
import { refuse } from "../refuse.ts"
import type { ImageSource } from "./imageSources.ts"

/** Options for `makeInputImages`. */
export interface InputImagesOptions extends InputPixelsOptions {
  /** Maximum length of an image, decoded, in bytes. */
  readonly imageBytesMax: number
  /** Maximum number of requests whose images are decoded at the same time. Each holds one image in memory. */
  readonly imageRequestsMax: number
}

/** A stored image to create a job with. */
export interface Input {
  readonly id: UploadId
  /** `true` for an upload, which the account can remove before the job is created. */
  readonly isUpload: boolean
  readonly image: InputImage
}

/** Makes the functions that take the images of a request and delete them again. */
export const makeInputImages = Effect.fnUntraced(function*(options: InputImagesOptions & ModeratedInput) {
  const images = yield* ImageStore
  const { discard, ingest, pixelsOf } = yield* makeImageIngest(options)
  const countPixels = yield* makeInputPixels(options)
  const takeUploads = makeTakeUploads(images)
  const inTurn = Turns.make({ max: options.imageRequestsMax })

  const ingestData = Effect.fnUntraced(function*(source: DataSource, index: number, account: string) {
    const bytes = yield* decode(source.base64)
    const image = yield* ingest({
      account,
      bytes,
      declared: source.declared,
      usableUntil: null,
      keptUntil: DateTime.addDuration(yield* DateTime.now, requestLimit),
      insert: (image) => images.insert([image])
    }).pipe(Effect.catchTags({ UnreadableImage: refuseUnreadable(index), UndecodedImage: refuseUndecoded }))
    return inputOf(image, index, false)
  })

  const discardSent = (inputs: ReadonlyArray<Input>) =>
    discard(inputs.filter(({ isUpload }) => !isUpload).map(({ id }) => id))

  /** Counts the pixels of a request before any of them is decoded, so that a refused request costs next to nothing. */
  const countAll = Effect.fnUntraced(
    function*(account: string, sources: ReadonlyArray<ImageSource>, uploads: ReadonlyMap<UploadId, KeptImage>) {
      let pixels = 0
      for (const [index, source] of sources.entries()) {
        if (source._tag === "Data") {
          pixels += yield* Effect.flatMap(decode(source.base64), (bytes) => pixelsOf(bytes, source.declared)).pipe(
            Effect.catchTag("UnreadableImage", refuseUnreadable(index))
          )
        } else if (options.isModerated) {
          const { height, width } = uploads.get(source.id)!
          pixels += width * height
        }
      }
      const exceeded = yield* countPixels(account, pixels)
      if (exceeded !== undefined) return yield* refuse(new GenerationError.InputPixelsExceeded(exceeded))
    }
  )

  /** Looks up the uploads first, which is cheap, then ingests the sent images one by one. */
  const takeAll = Effect.fnUntraced(function*(account: string, sources: ReadonlyArray<ImageSource>, at: DateTime.Utc) {
    const uploads = yield* takeUploads(account, sources, at)
    yield* countAll(account, sources, uploads)
    const ingested: Array<Input> = []
    return yield* Effect.forEach(sources, (source, index) =>
      source._tag === "Upload"
        ? Effect.succeed(inputOf(uploads.get(source.id)!, index, true))
        : Effect.tap(ingestData(source, index, account), (input) => Effect.sync(() => ingested.push(input)))).pipe(
        // No unit of work has started, so no job can refer to these images.
        Effect.onError(() => discardSent(ingested))
      )
  })

  return {
    /** Returns the images of a request, in its order. If one is refused, none of them stays. */
    take: Effect.fn("Generations.takeImages")(
      (account: string, sources: ReadonlyArray<ImageSource>, at: DateTime.Utc) =>
        inTurn(account)(takeAll(account, sources, at))
    ),

    /** Deletes the images that were sent with a request that created no job. Uploads stay. */
    discard: discardSent
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether input images are moderated. Then an upload is decoded for each job that uses it, not only once. */
interface ModeratedInput {
  readonly isModerated: boolean
}

const refuseUnreadable = (index: number) => ({ message }: { readonly message: string }) =>
  refuse(new GenerationError.InvalidImage({ index, message }))

const refuseUndecoded = () => refuse(new GenerationError.ImageTimedOut())

type DataSource = Extract<ImageSource, { readonly _tag: "Data" }>

/** Finds the uploads of a request by id. Refuses the first that is missing or has another type than declared. */
const makeTakeUploads = (images: ImageStore["Service"]) =>
  Effect.fnUntraced(function*(account: string, sources: ReadonlyArray<ImageSource>, at: DateTime.Utc) {
    const ids = sources.flatMap((source) => source._tag === "Upload" ? [source.id] : [])
    const found = ids.length === 0 ? [] : yield* images.findUsable(account, ids, at)
    const uploads = new Map(found.map((image) => [image.id, image]))
    for (const [index, source] of sources.entries()) {
      if (source._tag === "Data") continue
      const upload = uploads.get(source.id)
      if (upload === undefined) return yield* refuse(new GenerationError.UploadNotFound({ index }))
      if (source.declared !== undefined && source.declared.toLowerCase() !== upload.mime) {
        const message = `mime does not match the type of the upload, ${upload.mime}.`
        return yield* refuse(new GenerationError.InvalidImage({ index, message }))
      }
    }
    return uploads
  })

const inputOf = ({ bytes, height, id, mime, width }: KeptImage, index: number, isUpload: boolean): Input => ({
  id,
  isUpload,
  image: { index, mime, width, height, key: imageKey(id), bytes }
})

/** Characters that are decoded before the fiber yields: a millisecond or two of work. */
const charactersMax = 256 * 1024

/** Decodes valid base64 in pieces and yields between them, so that other requests make progress. */
const decode = Effect.fnUntraced(function*(base64: string) {
  const bytes = new Uint8Array(Math.floor(base64.length / 4 * 3))
  let length = 0
  for (let start = 0; start < base64.length; start += charactersMax) {
    const piece = Result.getOrThrow(Base64.decode(base64.slice(start, start + charactersMax)))
    bytes.set(piece, length)
    length += piece.length
    yield* Effect.yieldNow
  }
  return bytes.subarray(0, length)
})
