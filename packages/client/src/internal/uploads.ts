/** Defines the calls about uploads. */
import { ResponseError } from "../KinoraError.ts"
import type { CallOptions } from "../Options.ts"
import type { ImageSource, UploadOptions, Uploads } from "../Uploads.ts"
import type { Upload } from "../Wire.ts"
import * as Definition from "./Definition.ts"
import type { Transport } from "./Transport.ts"

/** See `Uploads`. */
export const make = (transport: Transport): Definition.Definitions<{ readonly uploads: Uploads }>["uploads"] => ({
  create: Definition.value(1, async (image: ImageSource, { mime, ...options }: UploadOptions = {}) => {
    const body = await blobOf(image)
    const declared = mime ?? (body.type === "" ? await sniff(body) : body.type)
    return transport.json<Upload>({
      ...options,
      method: "POST",
      target: "/uploads",
      headers: { "content-type": declared },
      body,
      // Each request creates another upload.
      isRepeatable: false
    })
  }),
  delete: Definition.value(1, async (id: string, options: CallOptions = {}) => {
    try {
      await transport.done({ ...options, method: "DELETE", target: `/uploads/${encodeURIComponent(id)}` })
    } catch (error) {
      // An earlier attempt deleted it, and the response was lost.
      const isGone = error instanceof ResponseError && error.status === 404 && error.attempts > 1
      if (!isGone) throw error
    }
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Far above the limit of the service, but small enough for the memory of a page. */
const bytesMax = 64 * 1024 * 1024

/** Reads the image completely, so that it can be sent again. Some browsers cannot send streams. */
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
      throw new RangeError(`An image to upload can have at most ${bytesMax} bytes`)
    }
    pieces.push(value)
  }
  return new Blob(pieces)
}

/** Media type by the first bytes. The service rejects other types. */
const sniff = async (body: Blob): Promise<string> => {
  const head = String.fromCharCode(...new Uint8Array(await body.slice(0, 12).arrayBuffer()))
  if (head.startsWith("\x89PNG")) return "image/png"
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg"
  return /^RIFF[^]{4}WEBP/.test(head) ? "image/webp" : "application/octet-stream"
}
