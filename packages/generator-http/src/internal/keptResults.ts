/** Results of upstreams that return them once, in the response to the request. They are kept in memory until they are collected. */
import { Clock, Duration, Effect } from "effect"

/** A result: the bytes of an image, or a URL that has them. */
type Result = { readonly bytes: Uint8Array } | { readonly url: string }

/** The results of this process, by the id of the request. */
export interface KeptResults {
  /** Keeps a result. Drops results that are too old, then the oldest ones while all have too many bytes. */
  readonly keep: (id: string, result: Result) => Effect.Effect<void>
  /** Returns a result, or `undefined` if it was dropped, or if another process has it. */
  readonly get: (id: string) => Result | undefined
}

/** Creates an empty store. The newest result is kept even if it alone exceeds `bytesMax`. */
export const make = (bytesMax: number): KeptResults => {
  const kept = new Map<string, { readonly result: Result; readonly bytes: number; readonly at: number }>()
  let total = 0
  const drop = (id: string) => {
    total -= kept.get(id)?.bytes ?? 0
    kept.delete(id)
  }
  return {
    keep: (id, result) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        drop(id)
        for (const [other, { at }] of kept) if (now - at > ageMaxMillis) drop(other)
        const bytes = "bytes" in result ? result.bytes.length : result.url.length
        for (const other of kept.keys()) if (total + bytes > bytesMax) drop(other)
        kept.set(id, { result, bytes, at: now })
        total += bytes
      }),
    get: (id) => kept.get(id)?.result
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Workers collect within seconds. */
const ageMaxMillis = Duration.toMillis("10 minutes")
