/** Ends reads that began before the end of their session, such as event streams. */
import { Duration, Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "./currentRequest.ts"
import * as SessionCookie from "./sessionCookie.ts"
import * as SessionOwner from "./sessionOwner.ts"
import { Suspensions } from "./suspensions.ts"

/**
 * Makes the function that returns, for the current request, an effect that completes within 5 seconds after the account is
 * suspended, or the session of the request has ended. Storage failures are ignored until they pass.
 */
export const makeAwaitEnd = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const sessionEnd = yield* makeSessionEnd(options)
  const { awaitSuspension } = yield* Suspensions
  return (account: string) =>
    Effect.map(sessionEnd(account), (ended): Effect.Effect<void> => Effect.raceFirst(awaitSuspension(account), ended))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const interval = Duration.seconds(5)

/** Makes the function that returns the end of the rights that the session of the current request has for an account. A request with a key has none. */
const makeSessionEnd = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { find } = yield* SessionOwner.make(options)

  return (account: string) =>
    Effect.map(currentRequest, (state): Effect.Effect<void> => {
      const hasKey = state.request.headers["authorization"] !== undefined
      if (hasKey || SessionCookie.tokenOf(state, options) === undefined) return Effect.never
      const hasEnded = find(state, "peek").pipe(
        Effect.map((found) => found === undefined || SessionOwner.callerOf(found)?.account.id !== account),
        Effect.orElseSucceed(() => false)
      )
      const poll: Effect.Effect<void> = Effect.sleep(interval).pipe(
        Effect.andThen(hasEnded),
        Effect.flatMap((ended) => ended ? Effect.void : poll)
      )
      return poll
    })
})
