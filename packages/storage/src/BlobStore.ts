/**
 * Large values under a key, streamed in and out: the port, and a store in memory.
 *
 * A blob is no part of a unit of work. Put it first and record it in the unit that
 * makes it known; delete it after the unit that forgets it. A crash in between
 * leaves bytes that nobody knows, never a record without its bytes.
 *
 * A store keeps bytes and nothing else. Size, hash and content type are the answer
 * of `put`, and belong in the caller's record, which has them at hand when it
 * answers a request.
 */
import { Cause, Context, Effect, Layer, Stream } from "effect"
import { BlobError, NotFound, OutOfRange } from "./BlobError.ts"
import * as BlobKey from "./BlobKey.ts"
import * as Meter from "./internal/Meter.ts"

/** Keeps blobs. */
export class BlobStore extends Context.Service<BlobStore, {
  /**
   * Reads `stream` to its end and publishes it under `key`, counted and hashed on
   * the way. A blob is never whole in memory.
   *
   * Until the stream has ended nothing is visible; when it fails, when it is longer
   * than `bytesMax` (`TooLarge`), on interruption and after a crash the key is as it
   * was. The answer means that the bytes survive a loss of power.
   *
   * A key that exists is replaced, so a job that runs again after a crash just puts
   * again. Of puts at the same time the last to finish stays, whole. Readers of the
   * old blob read it to its end.
   */
  readonly put: <E, R>(
    key: string,
    stream: Stream.Stream<Uint8Array, E, R>,
    options: PutOptions
  ) => Effect.Effect<Blob, E | BlobError, R>

  /**
   * The bytes of a blob, or of a range of it, in chunks of at most 64 KiB that are
   * the reader's to keep but not to change. Memory is constant: a chunk is read when
   * the reader asks for it, and what the store holds open is closed when the reader
   * goes away.
   *
   * Fails with `NotFound`, and with `OutOfRange` when the blob is shorter than the
   * range. So whoever has promised a length passes a range, and never sends less
   * without noticing.
   */
  readonly get: (key: string, range?: ByteRange) => Stream.Stream<Uint8Array, BlobError>

  /** What the store knows of a blob without reading it. Fails with `NotFound`. */
  readonly head: (key: string) => Effect.Effect<BlobHead, BlobError>

  /**
   * Deletes the blobs that there are; a key without one changes nothing. When it
   * fails, some may be deleted: call it again.
   */
  readonly delete: (keys: ReadonlyArray<string>) => Effect.Effect<void, BlobError>
}>()("@kinora/storage/BlobStore") {}

/** What a put is told. */
export interface PutOptions {
  /** At most this many bytes. */
  readonly bytesMax: number
  /** Media type of the bytes, for stores that serve them by themselves. */
  readonly contentType: string
}

/** A blob that was put. */
export interface Blob {
  readonly key: string
  readonly bytes: number
  /** Hash of the bytes, in lower-case hexadecimal: a strong `ETag`. */
  readonly sha256: string
  readonly contentType: string
}

/** What `head` answers. */
export interface BlobHead {
  readonly key: string
  readonly bytes: number
}

/** The bytes from `start` to `end`, both inclusive, `0 <= start <= end`, as in HTTP. `Range.Part` is one. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The largest chunk that `get` gives, in bytes: what a slow reader makes the store hold. */
export const chunkBytesMax = 64 * 1024

/** Blobs in this process's memory, for tests and for hosts that keep nothing. Requires no `MemoryBackend`: see above. */
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
      const chunks: Array<Uint8Array> = []
      yield* Stream.runForEach(stream, (chunk) =>
        Effect.suspend(() => {
          const refusal = meter.add(chunk)
          if (refusal !== undefined) return Effect.fail(refusal)
          // A copy, which `slice` of a Buffer is not.
          chunks.push(new Uint8Array(chunk))
          return Effect.void
        }))
      const blob = meter.finish()
      blobs.set(key, concat(chunks, blob.bytes))
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

const concat = (chunks: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

const chunksOf = (bytes: Uint8Array): Stream.Stream<Uint8Array> =>
  Stream.fromPull(Effect.sync(() => {
    let position = 0
    return Effect.suspend(() => {
      if (position >= bytes.length) return Cause.done()
      const chunk = bytes.subarray(position, position + chunkBytesMax)
      position += chunk.length
      return Effect.succeed([chunk] as const)
    })
  }))
