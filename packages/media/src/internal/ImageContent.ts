/** Inspects the bytes of an image without a decoder. */
import type { ImageMime } from "../MediaError.ts"

/** Returns the type by the first bytes, like libvips, or `undefined` if it is not supported. */
export const mimeOf = (bytes: Uint8Array): ImageMime | undefined => {
  const view = viewOf(bytes)
  if (startsWith(view, 0, pngStart)) return "image/png"
  if (startsWith(view, 0, jpegStart)) return "image/jpeg"
  if (startsWith(view, 0, riff) && startsWith(view, 8, webp)) return "image/webp"
  return undefined
}

/**
 * Returns whether the file contains the end marker of its type. Decoders stop at the last
 * pixel and do not require it. Bytes after the marker are allowed, since cameras append
 * some. A WebP has its length in the header, which the decoder checks.
 */
export const hasEnd = (bytes: Uint8Array, mime: ImageMime): boolean => {
  const view = viewOf(bytes)
  switch (mime) {
    case "image/png":
      return view.includes(endOf[mime])
    case "image/jpeg":
      return view.includes(endOf[mime], scanOffset(view))
    case "image/webp":
      return true
  }
}

/** End markers. A PNG ends with its `IEND` chunk, which is the same in every file. */
export const endOf: Readonly<Record<Exclude<ImageMime, "image/webp">, Buffer>> = {
  "image/png": Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]),
  "image/jpeg": Buffer.from([0xff, 0xd9])
}

/** Maximum number of segments. Real files have a few hundred; a file of nothing else must not block the event loop. */
export const segmentsMax = 100_000

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const jpegStart = Buffer.from([0xff, 0xd8, 0xff])
const jpegScan = 0xda
const riff = Buffer.from("RIFF")
const webp = Buffer.from("WEBP")

const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const startsWith = (view: Buffer, offset: number, signature: Buffer) =>
  view.subarray(offset, offset + signature.length).equals(signature)

/**
 * Returns the offset of the first scan of a JPEG, or the length of the file if it has
 * none. A segment before the scan can contain a thumbnail with its own end marker.
 * Inside a scan the marker does not occur by chance.
 */
const scanOffset = (view: Buffer): number => {
  let offset = 2
  for (let segment = 0; segment < segmentsMax && offset + 4 <= view.length && view[offset] === 0xff; segment++) {
    const marker = view[offset + 1]
    if (marker === jpegScan) return offset
    // A marker can be preceded by any number of 0xff.
    offset += marker === 0xff ? 1 : 2 + view.readUInt16BE(offset + 2)
  }
  return view.length
}
