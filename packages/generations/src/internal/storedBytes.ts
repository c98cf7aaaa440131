/** The bytes of stored files. */
import type { BlobError } from "@kinora/storage/BlobError"
import type { BlobStore } from "@kinora/storage/BlobStore"
import { type Effect, Stream } from "effect"
import type { StoredFile } from "../Generation.ts"

/** Streams all bytes of a file. Fails if it has fewer than its record has, which a read without a range would not notice. */
export const stream = (
  blobs: BlobStore["Service"],
  { bytes, key }: Pick<StoredFile, "bytes" | "key">
): Stream.Stream<Uint8Array, BlobError> => bytes === 0 ? Stream.empty : blobs.get(key, { start: 0, end: bytes - 1 })

/** Reads all bytes of a file, like `stream`. */
export const read = (
  blobs: BlobStore["Service"],
  file: Pick<StoredFile, "bytes" | "key">
): Effect.Effect<Uint8Array, BlobError> => Stream.mkUint8Array(stream(blobs, file))
