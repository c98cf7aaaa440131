import { Media } from "@kinora/media"
import { Effect } from "effect"

/** What an upload is, with a thumb of it; or why it is none. */
export const receive = Effect.fn("receive")(
  function*(upload: Uint8Array, declared: string) {
    const { probeImage, thumb } = yield* Media.Media
    const { height, mime, width } = yield* probeImage(upload, { declared })
    return { mime, width, height, thumb: yield* thumb(upload) }
  },
  Effect.catchReason(
    "MediaError",
    "TooManyPixels",
    ({ height, width }) => Effect.succeed(`${width} x ${height} is too large`)
  )
)

export const layer = Media.layer({ pixelsMax: 40_000_000, concurrency: 2 })
