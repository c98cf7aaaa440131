/** Reads a file in chunks. */
import { Cause, Effect, type Pull, Scope } from "effect"
import { BlobError, OutOfRange } from "../BlobError.ts"
import type { ByteRange } from "../BlobStore.ts"
import * as Chunks from "./chunks.ts"
import { readInto } from "./fileCalls.ts"
import type { BlobFile, OpenFile, OpenFiles } from "./openFiles.ts"

/** The files and the memory of reads. */
export interface ReadContext {
  readonly files: OpenFiles
  /** Returns memory of this size or more for a chunk. New memory unless the reader passes its own: a socket may still hold the previous chunk. */
  readonly allocate: (size: number) => Uint8Array
}

type ChunkPull = Pull.Pull<readonly [Uint8Array], BlobError>

/**
 * Returns a pull that reads a file, or a range of it, one chunk per pull. The file is released with the scope, and that of a range
 * of one chunk before its bytes are emitted.
 */
export const read = (
  context: ReadContext,
  file: BlobFile,
  range: ByteRange | undefined,
  scope: Scope.Scope
): Effect.Effect<ChunkPull, BlobError> => {
  const { acquire, release } = context.files
  if (range !== undefined && lengthOf(range) <= Chunks.firstChunkBytes) {
    return Effect.succeed(readOnce(context, file, range))
  }
  return Effect.flatMap(
    Scope.provide(Effect.acquireRelease(acquire(file), release), scope),
    (open) => readFrom(context, file, open, range)
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const lengthOf = ({ end, start }: ByteRange): number => end - start + 1

const outOfRange = ({ key }: BlobFile, bytes: number) =>
  Effect.fail(new BlobError({ reason: new OutOfRange({ key, bytes }) }))

/** Returns memory of exactly this size. */
const chunkOf = ({ allocate }: ReadContext, size: number): Uint8Array => {
  const memory = allocate(size)
  return memory.length === size ? memory : memory.subarray(0, size)
}

/** Reads a range into one chunk. The size of the file is only read if bytes are missing. */
const readOnce = (context: ReadContext, file: BlobFile, range: ByteRange): ChunkPull => {
  const { files } = context
  let isRead = false
  const readAll = Effect.acquireUseRelease(
    files.acquire(file),
    (open) => {
      const chunk = chunkOf(context, lengthOf(range))
      return Effect.flatMap(fill(open, chunk, range.start), (filled) => {
        if (filled < chunk.length) return Effect.flatMap(files.size(open), (size) => outOfRange(file, size))
        isRead = true
        return Effect.succeed([chunk] as const)
      })
    },
    files.release
  )
  return Effect.suspend((): ChunkPull => isRead ? Cause.done() : readAll)
}

/** Reads until a buffer is full or the file ends. Returns the number of bytes. */
const fill = ({ descriptor }: OpenFile, buffer: Uint8Array, start: number): Effect.Effect<number, BlobError> => {
  const from = (filled: number): Effect.Effect<number, BlobError> =>
    Effect.flatMap(
      readInto(descriptor, filled === 0 ? buffer : buffer.subarray(filled), start + filled),
      (bytesRead) =>
        bytesRead === 0 || filled + bytesRead === buffer.length
          ? Effect.succeed(filled + bytesRead)
          : from(filled + bytesRead)
    )
  return from(0)
}

const readFrom = Effect.fnUntraced(function*(
  context: ReadContext,
  file: BlobFile,
  open: OpenFile,
  range: ByteRange | undefined
) {
  const size = yield* context.files.size(open)
  // Suspended, because an error captures a stack trace, which a slow reader would hold.
  const isShort = Effect.suspend(() => outOfRange(file, size))
  if (range !== undefined && range.end >= size) return yield* isShort
  const start = range?.start ?? 0
  const stop = range === undefined ? size : range.end + 1
  let position = start

  return Effect.suspend((): ChunkPull => {
    if (position >= stop) return Cause.done()
    const buffer = chunkOf(context, Chunks.nextChunkBytes(position - start, stop - position))
    return Effect.flatMap(readInto(open.descriptor, buffer, position), (bytesRead) => {
      if (bytesRead === 0) return isShort
      position += bytesRead
      return Effect.succeed([buffer.subarray(0, bytesRead)] as const)
    })
  })
})
