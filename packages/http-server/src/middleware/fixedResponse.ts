/** Responses that stay the same until the process ends: browsers cache them, and they are compressed once. */
import { Effect } from "effect"
import { Digest } from "effect/crypto"
import { HttpBody, HttpPlatform, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { accepts } from "./acceptEncoding.ts"

type Response = HttpServerResponse.HttpServerResponse

/**
 * Provides routes with validators, caching and compression. Their responses must be the same
 * object for every request.
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function*() {
    const digest = yield* Digest.Digest
    const { compression } = yield* HttpPlatform.HttpPlatform
    const known = new WeakMap<Response, Variants>()

    const variantsOf = Effect.fnUntraced(function*(response: Response) {
      const { body } = response
      if (body._tag !== "Uint8Array") return yield* Effect.die(new Error("A fixed response must not be a stream"))
      const etag = `"${(yield* digest.digestHex(Digest.sha256, body.body)).slice(0, 32)}"`
      // All responses share these bytes. A text would be encoded for each and kept until its client has received it.
      const bytes = HttpServerResponse.setBody(response, HttpBody.uint8Array(body.body, body.contentType))
      const plain = HttpServerResponse.setHeaders(bytes, {
        etag,
        "cache-control": "public, max-age=300",
        "vary": "Accept-Encoding"
      })
      const made = { etag, plain, gzip: yield* compression.compressResponse(plain, "gzip", { level: 9 }) }
      known.set(response, made)
      return made
    })

    return (app) =>
      Effect.gen(function*() {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const response = yield* app
        const { etag, gzip, plain } = known.get(response) ?? (yield* variantsOf(response))
        const selected = accepts(headers["accept-encoding"], "gzip") ? gzip : plain
        return (headers["if-none-match"] ?? "").includes(etag)
          ? HttpServerResponse.empty({ status: 304, headers: validityOf(selected) })
          : selected
      })
  })
).layer

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Variants {
  /** The strong validator. That of the compressed response is weak. */
  readonly etag: string
  readonly plain: Response
  readonly gzip: Response
}

const validityOf = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries(["etag", "cache-control", "vary"].map((name) => [name, headers[name] ?? ""]))
