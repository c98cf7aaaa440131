import { Media } from "@kinora/media"
import { Effect } from "effect"

/** An upload as it is safe to keep, with a thumb of it; or why it is refused. */
export const receive = Effect.fn("receive")(
  function*(upload: Uint8Array, declared: string) {
    const { normalise, thumb } = yield* Media.Media
    const image = yield* normalise(upload, { declared })
    return { image, thumb: yield* thumb(image.bytes) }
  },
  Effect.catchReason(
    "MediaError",
    "TooManyPixels",
    ({ height, width }) => Effect.succeed(`${width} x ${height} is too large`)
  )
)

export const layer = Media.layer({ pixelsMax: 40_000_000, concurrency: 2 })
