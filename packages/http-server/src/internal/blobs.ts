/** Reading what a record says is there. */
import type { BlobError, BlobStore } from "@kinora/storage"
import { Effect, Stream } from "effect"
import * as Refusals from "./refusals.ts"

/**
 * The bytes of a range of a blob; none when it ends before it starts. Looked at before
 * the status line leaves: later there is no way left to say what is wrong.
 */
export const open = (blobs: BlobStore.BlobStore["Service"], key: string, range: BlobStore.ByteRange) =>
  blobs.head(key).pipe(
    Effect.catchTag("BlobError", unavailableOrDie),
    Effect.as(range.end < range.start ? Stream.empty : blobs.get(key, range))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The record says that the bytes are there. When they are not, somebody has to look. */
const unavailableOrDie = (error: BlobError.BlobError) =>
  error.reason._tag === "Unavailable"
    ? Effect.andThen(Effect.logWarning("Blob storage is unavailable", error), Effect.fail(Refusals.storageUnavailable))
    : Effect.die(error)
