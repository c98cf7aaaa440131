/** Limits the pixels that the service decodes for an account. */
import { RateLimit } from "@kinora/rate-limit/RateLimit"
import { DateTime, type Duration, Effect } from "effect"

/** Options for `makeInputPixels`. */
export interface InputPixelsOptions {
  /** Maximum number of pixels of the input images of an account per calendar minute. */
  readonly inputPixelsPerMinute: number
}

/** The default of `inputPixelsPerMinute`: 40 photos of 12 megapixels. */
export const inputPixelsPerMinuteDefault = 500_000_000

/**
 * Makes a function that counts pixels before they are decoded. Returns the refusal if they
 * do not fit, and then does not count them.
 */
export const makeInputPixels = Effect.fnUntraced(function*({ inputPixelsPerMinute }: InputPixelsOptions) {
  const { hit } = yield* RateLimit

  return Effect.fnUntraced(function*(account: string, pixels: number) {
    if (pixels === 0) return undefined
    const verdict = yield* hit({
      key: `input-pixels:${account}`,
      limit: inputPixelsPerMinute,
      cost: pixels,
      mayWait: true
    })
    if (verdict.accepted) return undefined
    const refusal: PixelsRefusal = {
      perMinute: inputPixelsPerMinute,
      retryAfter: DateTime.distance(verdict.at, verdict.resetsAt)
    }
    return refusal
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Fields of the refusal of images that do not fit into the rest of the minute. */
interface PixelsRefusal {
  readonly perMinute: number
  readonly retryAfter: Duration.Duration
}
