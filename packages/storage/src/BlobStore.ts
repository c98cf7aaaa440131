/**
 * Stores large values under a key, streamed in and out: the port, and a store in memory.
 *
 * A blob is not part of a unit of work. Put it before the unit that records it, and
 * delete it after the unit that removes the record. A crash in between leaves bytes
 * without a record, never a record without bytes.
 *
 * A store keeps bytes only. `put` returns size, hash and content type for the record of
 * the caller.
 */
import { Cause, Context, Effect, Layer, Stream } from "effect"
import { BlobError, NotFound, OutOfRange } from "./BlobError.ts"
import * as BlobKey from "./BlobKey.ts"
import type { Blob, PutOptions } from "./internal/Blob.ts"
import { nextChunkBytes } from "./internal/chunks.ts"
import * as Meter from "./internal/Meter.ts"
export type { Blob, PutOptions } from "./internal/Blob.ts"
export { chunkBytesMax } from "./internal/chunks.ts"

/** Stores blobs. */
export class BlobStore extends Context.Service<BlobStore, {
  /**
   * Reads `stream` to its end and publishes it under `key`, counted and hashed as it
   * arrives. A blob is never whole in memory.
   *
   * Nothing is visible before the stream has ended. If the stream fails, if it is longer
   * than `bytesMax` (`TooLarge`), on interruption and after a crash, the key is
   * unchanged. When `put` returns, the bytes survive a loss of power.
   *
   * An existing blob is replaced, so a job that runs again can put again. Of concurrent
   * puts the last to finish remains, complete. Readers of the old blob read it to its
   * end.
   */
  readonly put: <E, R>(
    key: string,
    stream: Stream.Stream<Uint8Array, E, R>,
    options: PutOptions
  ) => Effect.Effect<Blob, E | BlobError, R>

  /**
   * Streams the bytes of a blob, or of a range of it, in chunks of at most 256 KiB. The
   * reader may keep the chunks but must not change them. Memory use is constant: a chunk
   * is read when the reader pulls it, and the file is closed when the reader stops.
   *
   * Fails with `NotFound`, and with `OutOfRange` if the blob is shorter than the range.
   * Pass a range if a length was promised, so that a truncated blob is an error.
   */
  readonly get: (key: string, range?: ByteRange, options?: GetOptions) => Stream.Stream<Uint8Array, BlobError>

  /** Returns the size of a blob without reading it. Fails with `NotFound`. */
  readonly head: (key: string) => Effect.Effect<BlobHead, BlobError>

  /**
   * Deletes the blobs of these keys. Keys without a blob are ignored. If it fails, some
   * blobs may be deleted already; call it again.
   */
  readonly delete: (keys: ReadonlyArray<string>) => Effect.Effect<void, BlobError>
}>()("@kinora/storage/BlobStore") {}

/** The result of `head`. */
export interface BlobHead {
  readonly key: string
  readonly bytes: number
}

/** Options of `get`. */
export interface GetOptions {
  /**
   * Returns memory of this size or more for the next chunk, so that a reader can use memory again. A store may ignore it. If the
   * stream fails or is interrupted, the memory must not be used again, because the system may still write to it. By default
   * each chunk has new memory.
   */
  readonly allocate?: ((size: number) => Uint8Array) | undefined
}

/** The bytes from `start` to `end`, both inclusive as in HTTP, `0 <= start <= end`. A `Range.Part` is one. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Provides a store in the memory of this process, for tests and for hosts that keep nothing. */
export const layerMemory: Layer.Layer<BlobStore> = Layer.sync(BlobStore, () => {
  const blobs = new Map<string, Uint8Array>()

  const find = Effect.fnUntraced(function*(key: string) {
    yield* BlobKey.check(key)
    const found = blobs.get(key)
    if (found === undefined) return yield* new BlobError({ reason: new NotFound({ key }) })
    return found
  })

  return BlobStore.of({
    put: Effect.fn("BlobStore.put")(function*(key, stream, options) {
      yield* BlobKey.check(key)
      const meter = Meter.make(key, options)
      const copies = Stream.mapEffect(stream, (chunk) =>
        Effect.suspend(() => {
          const refusal = meter.add(chunk)
          // Copies the chunk, which `slice` of a Buffer would not.
          return refusal === undefined ? Effect.succeed(new Uint8Array(chunk)) : Effect.fail(refusal)
        }))
      const bytes = yield* Stream.mkUint8Array(copies)
      const blob = meter.finish()
      blobs.set(key, bytes)
      return blob
    }),
    get: (key, range) =>
      Stream.unwrap(Effect.map(find(key), (bytes) => {
        if (range === undefined) return chunksOf(bytes)
        return range.end < bytes.length
          ? chunksOf(bytes.subarray(range.start, range.end + 1))
          : Stream.fail(new BlobError({ reason: new OutOfRange({ key, bytes: bytes.length }) }))
      })),
    head: Effect.fn("BlobStore.head")(function*(key) {
      return { key, bytes: (yield* find(key)).length }
    }),
    delete: Effect.fn("BlobStore.delete")(function*(keys) {
      for (const key of keys) yield* BlobKey.check(key)
      for (const key of keys) blobs.delete(key)
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const chunksOf = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.fromPull(Effect.sync(() => {
    let position = 0
    return Effect.suspend(() => {
      if (position >= bytes.length) return Cause.done()
      const chunk = bytes.subarray(position, position + nextChunkBytes(position, bytes.length - position))
      position += chunk.length
      return Effect.succeed([chunk] as const)
    })
  }))
