/** Storing a result file. */
import type { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, type Stream } from "effect"
import type { StoredFile } from "../../Generation.ts"

/** A file to store. */
export interface NewFile<E> {
  readonly key: string
  readonly mime: string
  readonly body: Stream.Stream<Uint8Array, E>
  readonly bytesMax: number
}

/** Stores a file under its key and returns its reference. */
export const storeFile = <E>(blobs: BlobStore["Service"], { body, bytesMax, key, mime }: NewFile<E>) =>
  Effect.map(
    blobs.put(key, body, { bytesMax, contentType: mime }),
    ({ bytes, sha256 }): StoredFile => ({ key, mime, bytes, sha256 })
  )
