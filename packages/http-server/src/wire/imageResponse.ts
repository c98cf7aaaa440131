/** Responses of the image endpoint, with one image each. */
import type * as Wire from "@kinora/http-api/Image"
import { Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Base64 from "./base64.ts"

/** Makes the response with a URL. */
export const ofUrl = (created: number, url: string): HttpServerResponse.HttpServerResponse => {
  const body: typeof Wire.ImageResponse.Encoded = { created, data: [{ url }] }
  return HttpServerResponse.jsonUnsafe(body)
}

/** Makes the response with an image of this many bytes in base64. The image is encoded while it is read, chunk by chunk. */
export const ofBytes = <E>(
  created: number,
  image: Stream.Stream<Uint8Array, E>,
  bytes: number
): HttpServerResponse.HttpServerResponse => {
  const body: typeof Wire.ImageResponse.Encoded = { created, data: [{ b64_json: "" }] }
  // JSON escapes none of the characters of base64.
  const text = JSON.stringify(body)
  const middle = text.lastIndexOf("\"\"") + 1
  const around = (part: string) => Stream.encodeText(Stream.succeed(part))
  return HttpServerResponse.stream(
    Stream.concat(
      Stream.concat(around(text.slice(0, middle)), Base64.encode(image)),
      around(text.slice(middle))
    ),
    { contentType: "application/json", contentLength: text.length + Base64.encodedLength(bytes) }
  )
}
