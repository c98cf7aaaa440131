/** Decodes images with libvips, with limits on formats, bytes, pixels and time. */
import { Effect } from "effect"
import sharp, { type Sharp } from "sharp"
import {
  Corrupt,
  DecoderFailed,
  GrewTooLong,
  type ImageMime,
  MediaError,
  Mislabelled,
  TookTooLong,
  TooManyBytes,
  TooManyPixels,
  UnsupportedFormat
} from "../../MediaError.ts"
import * as ImageContent from "../ImageContent.ts"
import * as DecoderProcesses from "./DecoderProcesses.ts"
import * as Work from "./work.ts"

/** Limits of one decode. See `MediaOptions`. */
export interface Limits {
  readonly bytesMax: number
  readonly pixelsMax: number
  readonly secondsMax: number
}

/** Reads the header, and rejects the image by length, type and dimensions before it is decoded. */
export const readHeader = Effect.fnUntraced(
  function*(bytes: Uint8Array, { bytesMax, pixelsMax }: Limits, declared?: string) {
    if (bytes.length > bytesMax) {
      return yield* new MediaError({ reason: new TooManyBytes({ bytes: bytes.length, bytesMax }) })
    }
    const mime = ImageContent.mimeOf(bytes)
    if (mime === undefined) return yield* new MediaError({ reason: new UnsupportedFormat() })
    if (declared !== undefined && declared.toLowerCase() !== mime) {
      return yield* new MediaError({ reason: new Mislabelled({ declared, found: mime }) })
    }
    if (!ImageContent.hasEnd(bytes, mime)) {
      return yield* new MediaError({ reason: new Corrupt({ cause: "No end marker" }) })
    }
    const { autoOrient: { height, width }, pages = 1 } = yield* Effect.tryPromise({
      // Reads only the header. The limit is checked below, where the error can contain the dimensions.
      try: () => sharp(bytes, { limitInputPixels: false }).metadata(),
      catch: (cause) => new MediaError({ reason: new Corrupt({ cause }) })
    })
    if (width * height > pixelsMax) {
      return yield* new MediaError({ reason: new TooManyPixels({ width, height, pixelsMax }) })
    }
    const header: Header = { mime, width, height, frames: pages }
    return header
  }
)

/** Makes something of an image that `readHeader` accepted. */
export type Decode = (
  bytes: Uint8Array,
  limits: Limits,
  work: Work.Work
) => Effect.Effect<Work.Made, MediaError>

/** Decodes on the threads of this process. */
export const decode: Decode = (bytes, limits, work) =>
  Effect.flatMap(attempt(limits, () => Work.run(bytes, limits, work)), (made) => limited(made, limits))

/** Decodes an image on the threads of this process, applies `edit`, and encodes it in its own format. */
export const edit = (
  bytes: Uint8Array,
  mime: ImageMime,
  limits: Limits,
  edit: (image: Sharp) => Sharp
): Effect.Effect<Work.Made, MediaError> =>
  Effect.flatMap(
    attempt(limits, () => Work.decode(bytes, limits, (image) => Work.encodeAs[mime](edit(image)))),
    (made) => limited(made, limits)
  )

/** Makes the function that decodes in another process. `program` is the path of Node. */
export const makeApart = Effect.fnUntraced(function*(program: string) {
  const decodeApart = yield* DecoderProcesses.make(program)
  const decode: Decode = Effect.fnUntraced(function*(bytes, { bytesMax, pixelsMax, secondsMax }, work) {
    const order = { work, limits: { pixelsMax, secondsMax }, resultBytesMax: bytesMax }
    const { answer, data } = yield* Effect.mapError(
      decodeApart(bytes, order),
      ({ cause }) => new MediaError({ reason: new DecoderFailed({ cause }) })
    )
    switch (answer.kind) {
      case "made":
        return { data, info: answer }
      case "grew":
        return yield* new MediaError({ reason: new GrewTooLong({ bytes: answer.bytes, bytesMax }) })
      case "timeout":
        return yield* new MediaError({ reason: new TookTooLong({ secondsMax }) })
      case "corrupt":
        return yield* new MediaError({ reason: new Corrupt({ cause: answer.message }) })
    }
  })
  return decode
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const attempt = <A>({ secondsMax }: Limits, work: () => Promise<A>): Effect.Effect<A, MediaError> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new MediaError({ reason: Work.isTimeout(cause) ? new TookTooLong({ secondsMax }) : new Corrupt({ cause }) })
  })

/** Rejects a result that is too long: a PNG can be hundreds of times larger when it is encoded with other filters. */
const limited = (made: Work.Made, { bytesMax }: Limits): Effect.Effect<Work.Made, MediaError> =>
  made.data.length > bytesMax
    ? Effect.fail(new MediaError({ reason: new GrewTooLong({ bytes: made.data.length, bytesMax }) }))
    : Effect.succeed(made)

/** The header of an image file. */
interface Header {
  readonly mime: ImageMime
  /** Pixels, after orientation. */
  readonly width: number
  /** Pixels, after orientation. */
  readonly height: number
  /** Number of frames. More than one in an animation. */
  readonly frames: number
}
