/** Authentication of operators. */
import { AdminAuth } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import { RateLimit } from "@kinora/rate-limit"
import { ByteSize, Effect, Layer, Redacted } from "effect"
import { Digest, Mac } from "effect/crypto"
import { HttpIncomingMessage } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "./currentRequest.ts"
import { makeCountFailure } from "./rateLimits.ts"
import { unavailable } from "./refusals.ts"

/**
 * `AdminAuth`: checks the token, then limits the body. It compares digests in constant
 * time, so the duration reveals nothing about the token, not even its length.
 */
export const layer = (options: HttpServerOptions, token: Redacted.Redacted) =>
  Layer.effect(
    AdminAuth,
    Effect.gen(function*() {
      const countFailure = makeCountFailure(yield* RateLimit.RateLimit, options)
      const { digest } = yield* Digest.Digest
      const digestOf = (token: Redacted.Redacted) =>
        digest(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))
      const expected = yield* digestOf(token)

      const reject = Effect.gen(function*() {
        yield* countFailure(yield* currentRequest)
        return yield* unauthorized
      }).pipe(Effect.catchTag("StorageError", unavailable))

      return {
        bearer: Effect.fnUntraced(function*(app, { credential }) {
          if (!Mac.timingSafeEqual(expected, yield* digestOf(credential))) return yield* reject
          return yield* Effect.provideService(
            app,
            HttpIncomingMessage.MaxBodySize,
            ByteSize.bytes(options.bodyBytesMax)
          )
        })
      }
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unauthorized = refuse("unauthorized", {
  message: "The operator's token is required; send the header Authorization: Bearer <token>."
})

/** Every runtime has it, but the types that declare it belong to a platform. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }
