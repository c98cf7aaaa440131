/** What the bytes of an image say about it before a decoder is asked. */
import type { ImageMime } from "../MediaError.ts"

/** The type by the first bytes, as libvips would choose the decoder; `undefined` when it is none that is read. */
export const mimeOf = (bytes: Uint8Array): ImageMime | undefined => {
  const view = viewOf(bytes)
  if (startsWith(view, 0, pngStart)) return "image/png"
  if (startsWith(view, 0, jpegStart)) return "image/jpeg"
  if (startsWith(view, 0, riff) && startsWith(view, 8, webp)) return "image/webp"
  return undefined
}

/**
 * Whether the marker that ends a file of this type is there. Decoders stop at the
 * last pixel and do not miss it. Bytes after it are allowed: cameras append some.
 * A WebP says its length at the start, and its decoder checks it.
 */
export const hasEnd = (bytes: Uint8Array, mime: ImageMime): boolean => {
  const view = viewOf(bytes)
  switch (mime) {
    case "image/png":
      return view.includes(pngEnd)
    case "image/jpeg":
      return view.includes(jpegEnd, scanOffset(view))
    case "image/webp":
      return true
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** The `IEND` chunk: no data, so it is the same in every file. */
const pngEnd = Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82])
const jpegStart = Buffer.from([0xff, 0xd8, 0xff])
const jpegEnd = Buffer.from([0xff, 0xd9])
const jpegScan = 0xda
/** Real files have a few hundred segments; a file made of nothing else must not hold up the event loop. */
const stepsMax = 100_000
const riff = Buffer.from("RIFF")
const webp = Buffer.from("WEBP")

const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const startsWith = (view: Buffer, offset: number, signature: Buffer) =>
  view.subarray(offset, offset + signature.length).equals(signature)

/**
 * Where the first scan of a JPEG begins, after the segments before it, one of which
 * may hold a thumbnail with an end marker of its own. Inside a scan the marker
 * cannot occur by chance. The length of the file if there is no scan.
 */
const scanOffset = (view: Buffer): number => {
  let offset = 2
  for (let step = 0; step < stepsMax && offset + 4 <= view.length && view[offset] === 0xff; step++) {
    const marker = view[offset + 1]
    if (marker === jpegScan) return offset
    // Any number of 0xff may fill the space before a marker.
    offset += marker === 0xff ? 1 : 2 + view.readUInt16BE(offset + 2)
  }
  return view.length
}
