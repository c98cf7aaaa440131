/** Pictures for requests, and the size of received ones. */
import { crc32, deflateSync } from "node:zlib"

/** A black PNG. */
export const png = (width: number, height: number): Buffer<ArrayBuffer> => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits, grey.
  header[8] = 8
  const rows = deflateSync(Buffer.alloc((width + 1) * height))
  return Buffer.concat([pngStart, chunk("IHDR", header), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))])
}

/** A PNG of exactly this size. Most of it is in a chunk that decoders skip. */
export const padded = (bytes: number): Buffer<ArrayBuffer> => {
  const small = png(32, 20)
  const end = small.length - 12
  const filling = chunk("teSt", Buffer.alloc(bytes - small.length - 12))
  return Buffer.concat([small.subarray(0, end), filling, small.subarray(end)])
}

/** A JPEG of 24 x 16 pixels. */
export const jpeg = Buffer.from(
  "/9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAQABgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAQF/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AmA1UoAD/2Q==",
  "base64"
)

/** A WebP of 24 x 16 pixels. */
export const webp = Buffer.from(
  "UklGRj4AAABXRUJQVlA4IDIAAADQAgCdASoYABAAPtFUo0uoJKMhsAgBABoJQBdgBaSAAP6uF/FDzW9g7k4wmksMkQAAAA==",
  "base64"
)

/** An input image as `data`. */
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")

/** Size in the header of a PNG or a lossy WebP. */
export const sizeOf = (bytes: Uint8Array): { readonly width: number; readonly height: number } => {
  const file = Buffer.from(bytes)
  if (file.subarray(0, 8).equals(pngStart)) return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) }
  if (file.toString("latin1", 8, 16) === "WEBPVP8 ") {
    return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff }
  }
  throw new Error(`No PNG and no lossy WebP: ${file.toString("latin1", 0, 16)}`)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

const chunk = (type: string, data: Buffer): Buffer<ArrayBuffer> => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const content = Buffer.concat([Buffer.from(type, "latin1"), data])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, sum])
}
