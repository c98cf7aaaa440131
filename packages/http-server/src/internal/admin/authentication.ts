/** Whether a request is the operator's. */
import { AdminAuth } from "@kinora/http-api/AdminAccess"
import { bodyOf, Unauthorized } from "@kinora/http-api/ApiError"
import { RateLimit } from "@kinora/rate-limit"
import { ByteSize, Effect, Layer, Redacted } from "effect"
import { Digest, Mac } from "effect/crypto"
import { HttpIncomingMessage } from "effect/http"
import type { HttpServerOptions } from "../../HttpServerOptions.ts"
import { currentRequest } from "../currentRequest.ts"
import { failedAuthentication, rateLimited } from "../limits.ts"
import { unavailable } from "../refusals.ts"

/**
 * `AdminAuth`: the token, then the size of the body. Digests are compared, in
 * constant time: how long it takes tells nothing of the token, not even its length.
 */
export const layer = (options: HttpServerOptions, token: Redacted.Redacted) =>
  Layer.effect(
    AdminAuth,
    Effect.gen(function*() {
      const rateLimit = yield* RateLimit.RateLimit
      const { digest } = yield* Digest.Digest
      const digestOf = (token: Redacted.Redacted) =>
        digest(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))
      const expected = yield* digestOf(token)

      /** Counts a failed attempt of the client's address, and refuses it (D28). */
      const refuse = Effect.gen(function*() {
        const state = yield* currentRequest
        const verdict = yield* rateLimit.hit(failedAuthentication(state, options))
        state.limit = verdict
        if (!verdict.accepted) return yield* rateLimited("auth", verdict, null)
        return yield* unauthorized
      }).pipe(Effect.catchTag("StorageError", unavailable))

      return {
        bearer: Effect.fnUntraced(function*(app, { credential }) {
          if (!Mac.timingSafeEqual(expected, yield* digestOf(credential))) return yield* refuse
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

const unauthorized = Effect.fail(
  new Unauthorized({
    error: bodyOf("unauthorized", {
      message: "The operator's token is required: send it as Authorization: Bearer <token>."
    })
  })
)

/** Every runtime has it; the types that name it come with a platform's own. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }
