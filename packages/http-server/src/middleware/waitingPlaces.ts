/** Limits the requests of a key that wait for a job. */
import { CurrentKey } from "@kinora/http-api/Access"
import { Places } from "@kinora/rate-limit"
import { Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "./currentRequest.ts"

/** Makes effects that return whether the key has a place left, and take it until the scope closes. */
export const make = Effect.fnUntraced(function*({ imageWaitsMax, longPollsMax }: HttpServerOptions) {
  const places = yield* Places.Places
  const acquire = Effect.fnUntraced(function*(kind: "wait" | "images", max: number) {
    const { key } = yield* CurrentKey
    const state = yield* currentRequest
    state.isWaiting = true
    return yield* places.acquire({ key: `${kind}:${key}`, max })
  })

  return {
    /** A place of long polls and event streams. */
    longPoll: acquire("wait", longPollsMax),
    /** A place of the image endpoint. */
    image: acquire("images", imageWaitsMax)
  }
})
