/** The stored input images of a set of jobs. */
import { DateTime, Effect } from "effect"
import type { UploadId } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"
import { ImageStore, type Keep, type KeptImage } from "../../ImageStore.ts"
import type { AdmittedJob } from "./admittedJob.ts"

/** Images that still exist, by id. */
export type KeptImages = ReadonlyMap<UploadId, KeptImage>

/** Makes a function that keeps the images of jobs until these can have ended. */
export const makeKeepImages = Effect.map(
  ImageStore,
  (images) =>
    Effect.fnUntraced(function*(jobs: ReadonlyArray<AdmittedJob>) {
      const keeps = keepsOf(jobs)
      const kept = keeps.length === 0 ? [] : yield* images.keep(keeps)
      const byId: KeptImages = new Map(kept.map((image) => [image.id, image]))
      return byId
    })
)

/** Returns the refusal of a job one of whose images was removed or has expired since its request arrived. */
export const missingImage = (
  { generation, inputs }: AdmittedJob,
  kept: KeptImages
): GenerationError.Refusal | undefined => {
  for (const { id, image: { index }, isUpload } of inputs) {
    const image = kept.get(id)
    if (isUpload) {
      const until = image?.usableUntil ?? undefined
      if (until === undefined || DateTime.isLessThanOrEqualTo(until, generation.createdAt)) {
        return new GenerationError.UploadNotFound({ index })
      }
    } else if (image === undefined) {
      // The request took longer than `requestLimit`, so the sweep deleted the image.
      return new GenerationError.InvalidImage({ index, message: "The image has expired. Send the request again." })
    }
  }
  return undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns one entry per image, until the last job that uses it can have ended. */
const keepsOf = (jobs: ReadonlyArray<AdmittedJob>): ReadonlyArray<Keep> => {
  const keeps = new Map<UploadId, Keep>()
  for (const { generation: { account }, inputs, inputsKeptUntil } of jobs) {
    for (const { id } of inputs) {
      const until = keeps.get(id)?.until ?? inputsKeptUntil
      keeps.set(id, { id, account, until: DateTime.max(until, inputsKeptUntil) })
    }
  }
  return Array.from(keeps.values())
}
