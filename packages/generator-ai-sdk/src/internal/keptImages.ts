/** Images in the memory of this process, until they are collected. */
import { Clock, Duration, Effect } from "effect"

/** An image. */
export interface Image {
  readonly mime: string
  readonly bytes: Uint8Array
}

/** Creates an empty store. The newest image is kept even if it alone exceeds `bytesMax`. */
export const make = (bytesMax: number) => {
  const kept = new Map<string, { readonly image: Image; readonly at: number }>()
  let total = 0
  const drop = (id: string) => {
    total -= kept.get(id)?.image.bytes.length ?? 0
    kept.delete(id)
  }
  return {
    /** Keeps an image. Drops images that are too old, then the oldest ones while all have too many bytes. */
    keep: (id: string, image: Image) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        drop(id)
        for (const [other, { at }] of kept) if (now - at > ageMaxMillis) drop(other)
        for (const other of kept.keys()) if (total + image.bytes.length > bytesMax) drop(other)
        kept.set(id, { image, at: now })
        total += image.bytes.length
      }),
    /** Returns an image, or `undefined` if it was dropped or another process has it. */
    get: (id: string): Image | undefined => kept.get(id)?.image
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Workers collect within seconds. */
const ageMaxMillis = Duration.toMillis("10 minutes")
