/** Reads files that a record refers to. */
import type { BlobError, BlobStore } from "@kinora/storage"
import { Effect, Stream } from "effect"
import { storageUnavailable } from "./refusals.ts"

/**
 * Opens a range of a blob; an empty range opens nothing. Checks the blob first, because
 * after the status line is sent the request cannot be rejected.
 */
export const openBlob = (blobs: BlobStore.BlobStore["Service"], key: string, range: BlobStore.ByteRange) =>
  blobs.head(key).pipe(
    Effect.catchTag("BlobError", unavailableOrDie),
    Effect.as(range.end < range.start ? Stream.empty : blobs.get(key, range))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A missing blob is a defect, because its record says that it exists. */
const unavailableOrDie = (error: BlobError.BlobError) =>
  error.reason._tag === "Unavailable"
    ? Effect.andThen(Effect.logWarning("Blob storage is unavailable", error), storageUnavailable)
    : Effect.die(error)
