/** Helpers for tests that read images. */
import { Effect } from "effect"
import * as Media from "../src/Media.ts"

/** Why an image is refused as an input. */
export const reasonOf = (bytes: Uint8Array, declared?: string) =>
  Media.Media.use(({ normalise }) => Effect.flip(normalise(bytes, { declared }))).pipe(
    Effect.map(({ reason }) => reason)
  )

/** An image that sharp makes. */
export const make = (image: () => Promise<Buffer>) => Effect.promise(image)
