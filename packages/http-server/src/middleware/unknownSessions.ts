/** Limits of session cookies that are not valid. See docs/reference/console-api.md#sign-in-and-out. */
import { RateLimit } from "@kinora/rate-limit"
import { Sessions } from "@kinora/sessions"
import { Effect, type Redacted } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { RequestState } from "./currentRequest.ts"
import { failedAuthentications, makeCountFailure } from "./rateLimits.ts"

/** Makes the function that looks up the session of a cookie, unless the address had too many failed authentications. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const rateLimit = yield* RateLimit.RateLimit
  const { isKnown } = yield* Sessions.Sessions
  const countFailure = makeCountFailure(rateLimit, options)

  /**
   * Runs `lookUp`, and counts a failed authentication of the address if it returns `undefined`. Beyond the limit it runs only
   * for sessions that this process has seen, so that nobody can reject the sessions of others at the address.
   */
  return Effect.fnUntraced(function*<A, E>(
    state: RequestState,
    token: Redacted.Redacted,
    lookUp: Effect.Effect<A | undefined, E>
  ) {
    if (!(yield* isKnown(token))) {
      const { accepted } = yield* rateLimit.peek(failedAuthentications(state, options))
      // Fails. The limiter remembers the refusal of a hit, so that further cookies cost no statement.
      if (!accepted) yield* countFailure(state)
    }
    const found = yield* lookUp
    if (found === undefined) yield* countFailure(state)
    return found
  })
})
