/** Reads files that a record refers to. */
import type { BlobError, BlobStore } from "@kinora/storage"
import { Effect, Pull, Stream } from "effect"
import { storageUnavailable } from "./refusals.ts"

type Blobs = BlobStore.BlobStore["Service"]

/** Checks that a blob can be read, without opening it. */
export const checkBlob = (blobs: Blobs, key: string) => Effect.catchTag(blobs.head(key), "BlobError", unavailableOrDie)

/**
 * Opens a range of a blob until the scope closes; an empty range is checked only. Reads the first chunk, because after the
 * status line is sent the request cannot be rejected.
 */
export const openBlob = Effect.fnUntraced(function*(blobs: Blobs, key: string, range: BlobStore.ByteRange) {
  if (range.end < range.start) {
    yield* checkBlob(blobs, key)
    return Stream.empty
  }
  const pull = yield* Stream.toPull(blobs.get(key, range))
  let first: Chunks | undefined = yield* pull.pipe(
    Pull.catchDone(() => Effect.die(new Error(`The blob ${key} is empty`))),
    Effect.catchTag("BlobError", unavailableOrDie)
  )
  return Stream.fromPull(Effect.succeed(Effect.suspend((): ChunkPull => {
    if (first === undefined) return pull
    const chunks = first
    first = undefined
    return Effect.succeed(chunks)
  })))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Chunks = readonly [Uint8Array, ...Array<Uint8Array>]

type ChunkPull = Pull.Pull<Chunks, BlobError.BlobError>

/** A missing blob is a defect, because its record says that it exists. */
const unavailableOrDie = (error: BlobError.BlobError) =>
  error.reason._tag === "Unavailable"
    ? Effect.andThen(Effect.logWarning("Blob storage is unavailable", error), storageUnavailable)
    : Effect.die(error)
