/** The places of requests that wait for a job (D37, D39). */
import { CurrentKey } from "@kinora/http-api/Access"
import { Places } from "@kinora/rate-limit"
import { Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { currentRequest } from "./currentRequest.ts"

/** Whether the key has a place left; taken until the scope closes. */
export const make = Effect.fnUntraced(function*({ imageWaitsMax, longPollsMax }: HttpServerOptions) {
  const places = yield* Places.Places
  const acquire = Effect.fnUntraced(function*(kind: "wait" | "images", max: number) {
    const { key } = yield* CurrentKey
    const state = yield* currentRequest
    state.isWaiting = true
    return yield* places.acquire({ key: `${kind}:${key}`, max })
  })

  return {
    /** Among the long polls and the streams of events. */
    longPoll: acquire("wait", longPollsMax),
    /** Among those who wait for an image, or are sent one. */
    image: acquire("images", imageWaitsMax)
  }
})
