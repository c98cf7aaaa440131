/** Memory for chunks that readers use one after the other. */
import { chunkBytesMax, firstChunkBytes } from "./chunks.ts"

/** Buffers of two sizes, of which some are kept for the next reader. New ones cost page faults. */
export interface Buffers {
  /** Returns a buffer of at least this size, at most `chunkBytesMax`. Its bytes are those of earlier readers. */
  readonly take: (size: number) => Buffer
  /** Gives a buffer back that neither a file nor a socket uses any more. */
  readonly giveBack: (buffer: Buffer) => void
}

/** Makes an empty set that keeps at most 8 MiB. */
export const makeBuffers = (): Buffers => {
  const small: Array<Buffer> = []
  const large: Array<Buffer> = []
  return {
    take: (size) =>
      size <= firstChunkBytes
        ? small.pop() ?? Buffer.allocUnsafeSlow(firstChunkBytes)
        : large.pop() ?? Buffer.allocUnsafeSlow(chunkBytesMax),
    giveBack: (buffer) => {
      const free = buffer.length === firstChunkBytes ? small : large
      if (free.length * buffer.length < keptBytesMax) free.push(buffer)
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Bytes that are kept of each size. */
const keptBytesMax = 4 * 1024 ** 2
