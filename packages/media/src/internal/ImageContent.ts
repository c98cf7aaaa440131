/** Tells an image's type by its first bytes, as libvips would choose the decoder. */
import type { ImageMime } from "../MediaError.ts"

/** The type, or `undefined` when it is none that is read. */
export const mimeOf = (bytes: Uint8Array): ImageMime | undefined => {
  if (startsWith(bytes, 0, png)) return "image/png"
  if (startsWith(bytes, 0, jpeg)) return "image/jpeg"
  if (startsWith(bytes, 0, riff) && startsWith(bytes, 8, webp)) return "image/webp"
  return undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const jpeg = [0xff, 0xd8, 0xff]
const ascii = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0))
const riff = ascii("RIFF")
const webp = ascii("WEBP")

const startsWith = (bytes: Uint8Array, offset: number, signature: ReadonlyArray<number>) =>
  signature.every((byte, index) => bytes[offset + index] === byte)
