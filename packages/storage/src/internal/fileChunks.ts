/** Reads a file in chunks. */
import { Cause, Effect, type Pull, Scope } from "effect"
import { type FileHandle, open } from "node:fs/promises"
import { BlobError, OutOfRange } from "../BlobError.ts"
import type { ByteRange } from "../BlobStore.ts"
import * as Chunks from "./chunks.ts"
import { attempt, close } from "./fileCalls.ts"

/** The file of a blob. */
export interface BlobFile {
  readonly key: string
  readonly path: string
}

type ChunkPull = Pull.Pull<readonly [Uint8Array], BlobError>

/**
 * Returns a pull that reads a file, or a range of it, one chunk per pull. The file is closed with the scope, and that of a range
 * of one chunk before its bytes are emitted.
 *
 * Each chunk has new memory, since a socket may still hold the previous one.
 */
export const read = (
  file: BlobFile,
  range: ByteRange | undefined,
  scope: Scope.Scope
): Effect.Effect<ChunkPull, BlobError> => {
  if (range !== undefined && lengthOf(range) <= Chunks.firstChunkBytes) return Effect.succeed(readOnce(file, range))
  return Effect.flatMap(Scope.provide(acquire(file), scope), (handle) => readFrom(file, handle, range))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const lengthOf = ({ end, start }: ByteRange): number => end - start + 1

const acquire = ({ key, path }: BlobFile) => Effect.acquireRelease(attempt("get", () => open(path, "r"), key), close)

const sizeOf = (handle: FileHandle) => Effect.map(attempt("get", () => handle.stat()), ({ size }) => size)

/** Returns the number of bytes that were read: 0 at the end of the file, and sometimes fewer than fit. */
const readInto = (handle: FileHandle, buffer: Uint8Array, position: number) =>
  Effect.map(attempt("get", () => handle.read(buffer, 0, buffer.length, position)), ({ bytesRead }) => bytesRead)

const outOfRange = ({ key }: BlobFile, bytes: number) =>
  Effect.fail(new BlobError({ reason: new OutOfRange({ key, bytes }) }))

/** Opens the file, reads the range into one chunk, and closes it. The size is only read if bytes are missing. */
const readOnce = (file: BlobFile, range: ByteRange): ChunkPull => {
  let isRead = false
  const readAll = Effect.scoped(Effect.gen(function*() {
    const handle = yield* acquire(file)
    const chunk = Buffer.allocUnsafeSlow(lengthOf(range))
    let filled = 0
    while (filled < chunk.length) {
      const bytesRead = yield* readInto(handle, chunk.subarray(filled), range.start + filled)
      if (bytesRead === 0) return yield* outOfRange(file, yield* sizeOf(handle))
      filled += bytesRead
    }
    isRead = true
    return [chunk] as const
  }))
  return Effect.suspend((): ChunkPull => isRead ? Cause.done() : readAll)
}

const readFrom = Effect.fnUntraced(function*(file: BlobFile, handle: FileHandle, range: ByteRange | undefined) {
  const size = yield* sizeOf(handle)
  // Suspended, because an error captures a stack trace, which a slow reader would hold.
  const isShort = Effect.suspend(() => outOfRange(file, size))
  if (range !== undefined && range.end >= size) return yield* isShort
  const start = range?.start ?? 0
  const stop = range === undefined ? size : range.end + 1
  let position = start

  return Effect.suspend((): ChunkPull => {
    if (position >= stop) return Cause.done()
    const buffer = Buffer.allocUnsafeSlow(Chunks.nextChunkBytes(position - start, stop - position))
    return Effect.flatMap(readInto(handle, buffer, position), (bytesRead) => {
      if (bytesRead === 0) return isShort
      position += bytesRead
      return Effect.succeed([buffer.subarray(0, bytesRead)] as const)
    })
  })
})
