/** Bytes and streams that the tests of the contract share. */
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import type { BlobError } from "../../BlobError.ts"
import { BlobStore } from "../../BlobStore.ts"

/** Returns bytes that differ by position. */
export const bytesOf = (length: number, seed = 1): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = Math.imul(i + seed, 2_654_435_761) >>> 24
  return bytes
}

/** Returns the hash of bytes as a store reports it. */
export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** Streams the bytes in chunks of `size`, one per pull. */
export const streamOf = (bytes: Uint8Array, size = 1_000): Stream.Stream<Uint8Array> =>
  Stream.unfold(
    0,
    (offset) =>
      Effect.succeed(
        offset < bytes.length ? [bytes.subarray(offset, offset + size), offset + size] as const : undefined
      )
  )
    .pipe(Stream.rechunk(1))

/** Reads a stream to its end. */
export const collect = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Uint8Array.from(Buffer.concat(chunks)))

/** Options of a put that accepts every blob of the tests. */
export const options = { bytesMax: 10_000_000, contentType: "video/mp4" }

/** Returns the tag of the reason for which a call fails. */
export const reasonOf = <A, E>(effect: Effect.Effect<A, E | BlobError>) => Effect.map(Effect.flip(effect), tagOf)

/** Puts an endless stream, which exceeds `bytesMax`. Returns how many chunks of 1,000 bytes were read. */
export const putEndless = Effect.fnUntraced(function*(key: string, bytesMax: number) {
  const { put } = yield* BlobStore
  let chunks = 0
  const endless = Stream.forever(Stream.sync(() => {
    chunks++
    return new Uint8Array(1_000)
  }))
  assert.strictEqual(yield* reasonOf(put(key, endless, { bytesMax, contentType: "image/png" })), "TooLarge")
  return chunks
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const tagOf = (error: unknown) =>
  typeof error === "object" && error !== null && "reason" in error ? (error as BlobError).reason._tag : error
