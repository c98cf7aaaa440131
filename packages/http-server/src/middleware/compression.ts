/** Compresses JSON for clients that accept it. See docs/reference/http-api.md#conventions. */
import { Effect } from "effect"
import { HttpMiddleware, HttpPlatform, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { Route } from "./metrics.ts"

type Response = HttpServerResponse.HttpServerResponse

/**
 * Whether a response is worth compressing, by its type and length. Files are compressed
 * already, events must not be delayed, images in base64 hardly shrink, and responses with an
 * `ETag` have a compressed form.
 */
export const isWorthwhile = ({ body, headers }: Response, { path }: Route): boolean =>
  body._tag === "Uint8Array" && body.contentLength >= bytesMin && body.contentLength <= bytesMax &&
  body.contentType === "application/json" && path !== imagePath && headers["content-encoding"] === undefined &&
  headers["etag"] === undefined

/**
 * Makes the function that compresses a response if the client accepts it. The platform
 * compresses outside of the event loop.
 */
export const make = Effect.map(
  HttpPlatform.HttpPlatform,
  (platform) => (response: Effect.Effect<Response>, request: HttpServerRequest.HttpServerRequest) =>
    compress(response).pipe(
      Effect.provideService(HttpPlatform.HttpPlatform, platform),
      Effect.provideService(HttpServerRequest.HttpServerRequest, request)
    )
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A job is shorter, unless its prompt is long. Polls are the most frequent requests, and compression costs more than they do. */
const bytesMin = 4_096

/** Bounds the time of one compression to a few milliseconds. Pages of jobs with the longest prompts are shorter. */
const bytesMax = 512 * 1024

const imagePath = "/v1/images/generations"

const compress = HttpMiddleware.compression({ algorithms: ["br", "gzip"], minSize: bytesMin })
