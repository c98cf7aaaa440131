/** Calls about uploads. */
import { ResponseError } from "../KinoraError.ts"
import type { ImageSource, Uploads } from "../Uploads.ts"
import type { Upload } from "../Wire.ts"
import type { Transport } from "./Transport.ts"

/** See `Uploads`. */
export const make = (transport: Transport): Uploads => ({
  create: async (image, { mime, ...options } = {}) => {
    const body = await blobOf(image)
    const declared = mime ?? (body.type === "" ? await sniff(body) : body.type)
    return transport.json<Upload>({
      ...options,
      method: "POST",
      target: "/uploads",
      headers: { "content-type": declared },
      body,
      // Each request would make one more upload.
      isRepeatable: false
    })
  },
  delete: async (id, options = {}) => {
    try {
      await transport.done({ ...options, method: "DELETE", target: `/uploads/${encodeURIComponent(id)}` })
    } catch (error) {
      // An earlier attempt deleted it, and its answer was lost.
      const isGone = error instanceof ResponseError && error.status === 404 && error.attempts > 1
      if (!isGone) throw error
    }
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Far above what the service takes, and below what hurts. */
const bytesMax = 64 * 1024 * 1024

/** Whole, so that it can be sent again, and by browsers that cannot send streams. */
const blobOf = async (image: ImageSource): Promise<Blob> => {
  if (image instanceof Blob) return image
  if (!(image instanceof ReadableStream)) return new Blob([image])
  const pieces: Array<Uint8Array<ArrayBuffer>> = []
  let bytes = 0
  const reader = image.getReader()
  for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) {
    bytes += value.length
    if (bytes > bytesMax) {
      await reader.cancel()
      throw new RangeError(`An image to upload has at most ${bytesMax} bytes`)
    }
    pieces.push(value)
  }
  return new Blob(pieces)
}

/** The media type by the first bytes. The service looks itself, and says when it is none of these. */
const sniff = async (body: Blob): Promise<string> => {
  const head = String.fromCharCode(...new Uint8Array(await body.slice(0, 12).arrayBuffer()))
  if (head.startsWith("\x89PNG")) return "image/png"
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg"
  return /^RIFF[^]{4}WEBP/.test(head) ? "image/webp" : "application/octet-stream"
}
