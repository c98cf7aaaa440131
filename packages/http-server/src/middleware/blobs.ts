/** Reads files that a record refers to. */
import type { BlobError, BlobStore } from "@kinora/storage"
import { Cause, Effect, Pull, Stream } from "effect"
import { storageUnavailable } from "./refusals.ts"

type Blobs = BlobStore.BlobStore["Service"]

/** Checks that a blob can be read, without opening it. */
export const checkBlob = (blobs: Blobs, key: string) => Effect.catchTag(blobs.head(key), "BlobError", unavailableOrDie)

/** An open range of a blob. */
export interface OpenBlob {
  /** The chunks that are read already. `undefined` if the range is empty. */
  readonly first: Chunks | undefined
  /** Reads the chunks after the first. */
  readonly rest: ChunkPull
}

/**
 * Opens a range of a blob until the scope closes; an empty range is checked only. Reads the first chunk, because after the
 * status line is sent the request cannot be rejected. Dies if the store returns fewer or more bytes than the range has, before
 * the last of them are emitted: a client could take the response for complete.
 */
export const openBlob = Effect.fnUntraced(function*(
  blobs: Blobs,
  key: string,
  range: BlobStore.ByteRange,
  options?: BlobStore.GetOptions
) {
  if (range.end < range.start) {
    yield* checkBlob(blobs, key)
    const empty: OpenBlob = { first: undefined, rest: Cause.done() }
    return empty
  }
  const rest = exactly(key, range, yield* Stream.toPull(blobs.get(key, range, options)))
  const first: Chunks = yield* rest.pipe(
    Pull.catchDone(() => Effect.die(new Error("A range with bytes ended without any"))),
    Effect.catchTag("BlobError", unavailableOrDie)
  )
  const open: OpenBlob = { first, rest }
  return open
})

/** All chunks of an open blob. Counts their bytes before it emits them. */
export const countedStreamOf = (
  open: OpenBlob,
  count: (bytes: number) => Effect.Effect<void>
): Stream.Stream<Uint8Array, BlobError.BlobError> =>
  // Whole arrays of chunks, since a stream of single chunks needs more memory per reader.
  Stream.mapArrayEffect(streamOf(open), (chunks) =>
    Effect.as(count(chunks.reduce((sum, { length }) => sum + length, 0)), chunks))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** All chunks of an open blob. */
const streamOf = ({ first, rest }: OpenBlob): Stream.Stream<Uint8Array, BlobError.BlobError> => {
  let chunks = first
  return Stream.fromPull(Effect.succeed(Effect.suspend((): ChunkPull => {
    if (chunks === undefined) return rest
    const read = chunks
    chunks = undefined
    return Effect.succeed(read)
  })))
}

/** Chunks of a blob. */
type Chunks = readonly [Uint8Array, ...Array<Uint8Array>]

/** Reads the next chunks. */
type ChunkPull = Pull.Pull<Chunks, BlobError.BlobError>

/** Returns a pull that dies unless the other one emits exactly the bytes of the range. */
const exactly = (key: string, { end, start }: BlobStore.ByteRange, pull: ChunkPull): ChunkPull => {
  const length = end - start + 1
  let read = 0
  const mismatch = Effect.suspend(() =>
    Effect.die(new Error(`The store returned ${read} instead of ${length} bytes of the blob ${key}`))
  )
  const counted = Effect.flatMap(pull, (chunks) => {
    for (const chunk of chunks) read += chunk.length
    return read > length ? mismatch : Effect.succeed(chunks)
  })
  // Reads chunks without bytes.
  const isEnded = Pull.catchDone(Effect.forever(counted), () => Effect.void)
  const next = Effect.flatMap(
    Pull.catchDone(counted, () => mismatch),
    (chunks) => read < length ? Effect.succeed(chunks) : Effect.as(isEnded, chunks)
  )
  return Effect.suspend((): ChunkPull => read < length ? next : Cause.done())
}

/** A missing blob is a defect, because a record refers to it. */
const unavailableOrDie = (error: BlobError.BlobError) =>
  error.reason._tag === "Unavailable"
    ? Effect.andThen(Effect.logWarning("Blob storage is unavailable", error), storageUnavailable)
    : Effect.die(error)
