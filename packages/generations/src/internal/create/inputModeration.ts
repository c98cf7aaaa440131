/** Moderation of a request, before its job is created and outside of any unit of work. */
import { Media } from "@kinora/media/Media"
import * as Turns from "@kinora/media/Turns"
import { type File, Moderation, type Picture } from "@kinora/moderation/Moderation"
import { unavailable, unsupported } from "@kinora/moderation/ModerationError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect } from "effect"
import type { Generation, InputImage } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { fileOf } from "../moderatedFile.ts"
import { refuse } from "../refuse.ts"

/** Options for `makeModerateInput`. */
export interface InputModerationOptions {
  /** Maximum number of requests that are moderated at the same time. Each holds its images in memory. */
  readonly moderationsMax: number
}

/** Makes a function that refuses a job whose prompt or input images are not allowed. Accounts take turns. */
export const makeModerateInput = Effect.fnUntraced(function*({ moderationsMax }: InputModerationOptions) {
  const blobs = yield* BlobStore
  const media = yield* Media
  const { checkInput } = yield* Moderation
  const inTurn = Turns.make({ max: moderationsMax })

  /** A smaller copy, which is made when the moderation asks for it. */
  const pictureOf = (owner: string) => (image: InputImage): Picture => {
    const file = fileOf(blobs, image)
    const smaller = file.read.pipe(
      Effect.flatMap((bytes) => media.preview(bytes, { owner })),
      Effect.catchTag("MediaError", () => Effect.fail(unsupported("The image has no preview"))),
      Effect.map(({ bytes, mime }): File => ({ mime, bytes: bytes.length, read: Effect.succeed(bytes) }))
    )
    return { ...file, smaller }
  }

  return Effect.fn("Generations.moderateInput")(
    function*({ account, id, images, model, plan, prompt }: Generation) {
      const input = { id, account, model, prompt, images: images.map(pictureOf(account)) }
      const verdict = yield* inTurn(account)(checkInput(input)).pipe(
        Effect.timeoutOrElse({ duration: turnLimit, orElse: () => Effect.fail(unavailable("Too many requests wait")) }),
        Effect.catchTag("ModerationError", (error) =>
          Effect.andThen(
            Effect.logWarning("A request was refused without a moderation", id, error.message),
            refuse(new GenerationError.ModerationUnavailable())
          ))
      )
      if (verdict._tag === "Accepted") return
      const { image, reason } = verdict
      return yield* refuse(new GenerationError.ContentRejected({ plan, reason, image: image ?? null }))
    }
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum time of a moderation, with the wait for its turn. Shorter than the time limit of most clients. */
const turnLimit = "30 seconds"
