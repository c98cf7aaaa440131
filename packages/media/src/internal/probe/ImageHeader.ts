/** Reads the dimensions of an image and checks its end, without decoding it. */
import { Effect } from "effect"
import type { ImageMime } from "../../MediaError.ts"
import { malformed, type ProbeError } from "../../ProbeError.ts"
import * as ImageContent from "../ImageContent.ts"
import * as FileReader from "./FileReader.ts"

/** Width and height in pixels. */
export interface Dimensions {
  readonly width: number
  readonly height: number
}

/** Returns the dimensions of an image. Fails if the end of the file is missing or the header is invalid. */
export const read = Effect.fnUntraced(function*<E>(reader: FileReader.FileReader<E>, mime: ImageMime) {
  yield* checkEnd(reader, mime)
  const { height, width } = yield* dimensionsOf(reader, mime)
  if (width === 0 || height === 0) return yield* malformed("an image has no pixels")
  return { width, height }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Bytes after the end marker are allowed if the marker is in the last `partMax` bytes. */
const checkEnd = Effect.fnUntraced(function*<E>(reader: FileReader.FileReader<E>, mime: ImageMime) {
  const length = Math.min(reader.bytes, FileReader.partMax)
  if (mime === "image/webp") {
    const end = 8 + (yield* reader.at(4, 4)).readUInt32LE()
    if (end > reader.bytes) return yield* malformed(`a WebP of ${end} bytes has only ${reader.bytes}`)
  } else if (!(yield* reader.at(reader.bytes - length, length)).includes(ImageContent.endOf[mime])) {
    return yield* malformed("an image has no end marker")
  }
})

const dimensionsOf = <E>(
  reader: FileReader.FileReader<E>,
  mime: ImageMime
): Effect.Effect<Dimensions, ProbeError | E> => {
  switch (mime) {
    case "image/png":
      return Effect.map(reader.at(16, 8), (ihdr) => ({ width: ihdr.readUInt32BE(0), height: ihdr.readUInt32BE(4) }))
    case "image/jpeg":
      return jpegDimensions(reader)
    case "image/webp":
      return webpDimensions(reader)
  }
}

/** Finds the frame header among the segments. */
const jpegDimensions = Effect.fnUntraced(function*<E>(reader: FileReader.FileReader<E>) {
  let offset = 2
  for (let segment = 0; segment < ImageContent.segmentsMax; segment++) {
    const header = yield* reader.at(offset, 4)
    const marker = header.readUInt8(1)
    if (header.readUInt8(0) !== 0xff || marker === scan) break
    if (isFrame(marker)) {
      const frame = yield* reader.at(offset + 5, 4)
      return { height: frame.readUInt16BE(0), width: frame.readUInt16BE(2) }
    }
    // A marker can be preceded by any number of 0xff.
    offset += marker === 0xff ? 1 : 2 + header.readUInt16BE(2)
  }
  return yield* malformed("a JPEG has no frame header")
})

const scan = 0xda

/** SOF0 to SOF15. Three markers between them have other meanings. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const webpDimensions = Effect.fnUntraced(function*<E>(reader: FileReader.FileReader<E>) {
  const head = yield* reader.at(12, 18)
  switch (head.toString("latin1", 0, 4)) {
    case "VP8X":
      return { width: head.readUIntLE(12, 3) + 1, height: head.readUIntLE(15, 3) + 1 }
    case "VP8L": {
      const bits = head.readUInt32LE(9)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case "VP8 ":
      return { width: head.readUInt16LE(14) & 0x3fff, height: head.readUInt16LE(16) & 0x3fff }
    default:
      return yield* malformed("a WebP has no image")
  }
})
