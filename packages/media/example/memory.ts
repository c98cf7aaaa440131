import { Media } from "@kinora/media"
import { Console, Effect } from "effect"

/** A PNG of one red pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64"
)

const program = Effect.gen(function*() {
  const media = yield* Media.Media
  const image = yield* media.normalise(pixel, { declared: "image/png" })
  const thumb = yield* media.thumb(image.bytes)
  yield* Console.log(image.mime, image.width, image.height, thumb.mime)

  const error = yield* Effect.flip(media.normalise(pixel.subarray(0, 40)))
  yield* Console.log(error.message)
})

await Effect.runPromise(Effect.provide(program, Media.layer({ pixelsMax: 40_000_000 })))
// image/png 1 1 image/webp
// The image is truncated or damaged. Send the complete file, or save the image again.
