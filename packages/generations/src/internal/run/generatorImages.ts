/** Hands the bytes of input images to a generator. */
import type { InputImage as Source } from "@kinora/generator/GenerationRequest"
import { GeneratorError, Permanent, Transient } from "@kinora/generator/GeneratorError"
import type { BlobError } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Stream } from "effect"
import type { InputImage } from "../../Generation.ts"

/** Builds the function that opens the images of a job, after making sure that all of them are there. */
export const makeOpenImages = Effect.map(
  BlobStore,
  (blobs) => (images: ReadonlyArray<InputImage>): Effect.Effect<ReadonlyArray<Source>, GeneratorError> =>
    Effect.forEach(
      images,
      ({ bytes, height, key, mime, width }) =>
        Effect.as(Effect.mapError(blobs.head(key), asGeneratorError), {
          mime,
          width,
          height,
          bytes,
          body: Stream.mapError(blobs.get(key), asGeneratorError)
        })
    )
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const asGeneratorError = ({ reason }: BlobError): GeneratorError =>
  new GeneratorError({
    reason: reason._tag === "Unavailable" ? new Transient({}) : gone
  })

const gone = new Permanent({
  code: "invalid_input",
  reason: null,
  message: "An input image is no longer kept; the job was refunded. Send the image again with a new job."
})
