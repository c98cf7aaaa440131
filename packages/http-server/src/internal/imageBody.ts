/** The answers of the image endpoint: always one entry (D20). */
import type * as Wire from "@kinora/http-api/Image"
import { Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import * as Base64 from "./base64.ts"

/** The image by its address. */
export const ofUrl = (created: number, url: string): HttpServerResponse.HttpServerResponse => {
  const body: typeof Wire.ImageResponse.Encoded = { created, data: [{ url }] }
  return HttpServerResponse.jsonUnsafe(body)
}

/** The image itself, of this many bytes. It goes through as it is read, and is never whole in memory. */
export const ofBytes = <E>(
  created: number,
  image: Stream.Stream<Uint8Array, E>,
  bytes: number
): HttpServerResponse.HttpServerResponse => {
  const body: typeof Wire.ImageResponse.Encoded = { created, data: [{ b64_json: "" }] }
  // Base64 has no letter that JSON would escape.
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
