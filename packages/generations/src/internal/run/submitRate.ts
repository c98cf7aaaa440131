/** The number of submits per minute, over all worker processes that use one key. */
import { Places } from "@kinora/rate-limit/Places"
import { Effect } from "effect"
import { makeWait } from "./waitForPlace.ts"

/** Options for `makeSubmitRate`. */
export interface SubmitRateOptions {
  /** Processes with the same key share the rate. */
  readonly key: string
  /** `undefined`: no limit, and no statement. */
  readonly perMinute: number | undefined
}

/** Makes a limit of `perMinute` submits within any minute. */
export const makeSubmitRate = Effect.fnUntraced(function*({ key, perMinute = Infinity }: SubmitRateOptions) {
  const { acquireFor, held } = yield* Places
  const wait = makeWait()
  return {
    /** Returns how many submits are possible now. 0 if the database is unavailable. */
    left: perMinute === Infinity
      ? Effect.succeed(Infinity)
      : Effect.match(held(key), { onFailure: () => 0, onSuccess: (used) => perMinute - used }),

    /** Counts a submit. Waits until one is possible, and returns `false` if none is in time. */
    take: perMinute === Infinity ? Effect.succeed(true) : wait(acquireFor({ key, max: perMinute, lasts: "1 minute" }))
  }
})
