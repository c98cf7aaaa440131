/** Limits the requests of a key, and of an account with all of its keys, that wait for a job. */
import { CurrentKey } from "@kinora/http-api/Access"
import { Places } from "@kinora/rate-limit"
import { Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "./currentRequest.ts"

/** Makes effects that return whether the key and its account have a place left, and take it until the scope closes. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const places = yield* Places.Places
  const acquire = Effect.fnUntraced(function*(kind: "wait" | "images", max: number, accountMax: number) {
    const { account, key } = yield* CurrentKey
    const state = yield* currentRequest
    state.isWaiting = true
    // At the same time, so that a busy server, which folds the statements of its requests, takes both with one.
    const [ofKey, ofAccount] = yield* Effect.all([
      places.acquire({ key: `${kind}:${key}`, max }),
      places.acquire({ key: `account-${kind}:${account}`, max: accountMax })
    ], { concurrency: 2 })
    return ofKey && ofAccount
  })

  return {
    /** A place of long polls and event streams. */
    longPoll: acquire("wait", options.longPollsMax, options.accountLongPollsMax),
    /** A place of the image endpoint. */
    image: acquire("images", options.imageWaitsMax, options.accountImageWaitsMax)
  }
})
