/** Moderation of a result, before its job completes. */
import { GeneratorError, Permanent, Transient } from "@kinora/generator/GeneratorError"
import { Moderation, type Output as Checked, type Picture } from "@kinora/moderation/Moderation"
import { unsupported } from "@kinora/moderation/ModerationError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect } from "effect"
import type { Generation, Output, StoredFile } from "../../Generation.ts"
import { fileOf } from "../moderatedFile.ts"
import { retryTransient } from "./retries.ts"

/** Options for `makeModerateOutput`. */
export interface OutputModerationOptions {
  /** Maximum number of retries of a check that fails for a transient reason. */
  readonly retries: number
}

/**
 * Makes a function that fails with `content_rejected` if the files of a job are not
 * allowed, and with `generation_failed` if they cannot be checked. A worker that takes
 * the job over checks again, since only the end of the job is stored.
 */
export const makeModerateOutput = Effect.fnUntraced(function*({ retries }: OutputModerationOptions) {
  const blobs = yield* BlobStore
  const { checkOutput } = yield* Moderation

  const pictureOf = (picture: StoredFile, smaller: StoredFile | null): Picture => ({
    ...fileOf(blobs, picture),
    smaller: smaller === null
      ? Effect.fail(unsupported("The picture has no preview"))
      : Effect.succeed(fileOf(blobs, smaller))
  })

  const filesOf = ({ content, poster, preview, thumb }: Output): Pick<Checked, "picture" | "video"> =>
    content.mime.startsWith("image/")
      ? { picture: pictureOf(content, preview), video: undefined }
      : { picture: poster === null ? undefined : pictureOf(poster, thumb), video: fileOf(blobs, content) }

  return Effect.fn("Generations.moderateOutput")(
    function*({ account, id, model, prompt }: Generation, output: Output) {
      const verdict = yield* Effect.catch(
        checkOutput({ id, account, model, prompt, ...filesOf(output) }),
        ({ isRetryable, message }) =>
          Effect.andThen(
            Effect.logWarning("The moderation of a result failed", id, message),
            Effect.fail(new GeneratorError({ reason: isRetryable ? new Transient({}) : unchecked }))
          )
      )
      if (verdict._tag === "Accepted") return
      return yield* new GeneratorError({ reason: rejectedFor(verdict.reason) })
    },
    retryTransient(retries),
    Effect.catchReason("GeneratorError", "Transient", () => Effect.fail(new GeneratorError({ reason: unchecked })))
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rejectedFor = (reason: "safety" | "copyright") =>
  new Permanent({
    code: "content_rejected",
    reason,
    message: "The moderation rejected the result. The job was refunded. Change the prompt or the images."
  })

const unchecked = new Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "The moderation could not check the result. The job was refunded. Try again later."
})
