/** Reads small parts of a file through a window, and fails at its end. */
import { Effect } from "effect"
import type { MediaFile } from "../../MediaFile.ts"
import { LimitExceeded, malformed, ProbeError } from "../../ProbeError.ts"

/** Longest part that `at` returns, in bytes. */
export const partMax = 16 * 1024

/** A reader of one file. */
export interface FileReader<E> {
  /** Length of the file. */
  readonly bytes: number
  /** Returns `length` bytes from `offset`, at most `partMax`. Fails if the file ends before. The bytes are valid until the next call. */
  readonly at: (offset: number, length: number) => Effect.Effect<Buffer, ProbeError | E>
}

/** Creates a reader for at most `readsMax` calls of `at`. */
export const make = <E>(file: MediaFile<E>, readsMax: number): FileReader<E> => {
  let window: Buffer = Buffer.alloc(0)
  let start = 0
  let reads = 0

  const refill = Effect.fnUntraced(function*(offset: number) {
    const read = yield* file.read(offset, Math.min(partMax, file.bytes - offset))
    window = Buffer.from(read.buffer, read.byteOffset, read.byteLength)
    start = offset
  })

  return {
    bytes: file.bytes,
    at: Effect.fnUntraced(function*(offset, length) {
      if (++reads > readsMax) {
        return yield* new ProbeError({ reason: new LimitExceeded({ limit: "readsMax", value: reads, max: readsMax }) })
      }
      if (offset + length > file.bytes) return yield* malformed(`it ends before byte ${offset + length}`)
      if (offset < start || offset + length > start + window.length) yield* refill(offset)
      return window.subarray(offset - start, offset - start + length)
    })
  }
}
