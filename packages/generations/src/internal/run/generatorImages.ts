/** Input images of a job as byte streams for a generator. */
import type { InputImage as GeneratorImage } from "@kinora/generator/GenerationRequest"
import { GeneratorError, Permanent, Transient } from "@kinora/generator/GeneratorError"
import type { BlobError } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Stream } from "effect"
import type { InputImage } from "../../Generation.ts"
import * as StoredBytes from "../storedBytes.ts"

/** Makes a function that opens the images of a job. Fails before any stream starts if one of them is missing. */
export const makeOpenImages = Effect.map(
  BlobStore,
  (blobs) => (images: ReadonlyArray<InputImage>): Effect.Effect<ReadonlyArray<GeneratorImage>, GeneratorError> =>
    Effect.forEach(
      images,
      ({ bytes, height, key, mime, width }) =>
        Effect.as(Effect.mapError(blobs.head(key), asGeneratorError), {
          mime,
          width,
          height,
          bytes,
          body: Stream.mapError(StoredBytes.stream(blobs, { bytes, key }), asGeneratorError)
        })
    )
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const asGeneratorError = ({ reason }: BlobError): GeneratorError =>
  new GeneratorError({ reason: reason._tag === "Unavailable" ? new Transient({}) : expired })

const expired = new Permanent({
  code: "invalid_input",
  reason: null,
  message: "An input image is no longer stored. The job was refunded. Create a new job with the image."
})
