/** Tests of reads of ranges. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { BlobStore, chunkBytesMax } from "../../BlobStore.ts"
import { bytesOf, collect, options, streamOf } from "./bytes.ts"

/** Registers them. */
export const rangeTests = (it: Vitest.MethodsNonLive<BlobStore>): void => {
  it.effect.prop("reads ranges that equal slices", [
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 * chunkBytesMax })),
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
  ], ([size, from, to]) =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      const bytes = bytesOf(size, size)
      yield* put("slices", streamOf(bytes, 50_000), options)
      const start = Math.floor(from * (size - 1))
      const end = start + Math.floor(to * (size - 1 - start))
      assert.deepStrictEqual(yield* collect(get("slices", { start, end })), bytes.slice(start, end + 1))
    }), { arbitrary: { runs: 40 } })

  it.effect("reads ranges at chunk boundaries", () =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      const bytes = bytesOf(2 * chunkBytesMax)
      yield* put("borders", streamOf(bytes, 64_000), options)
      const places = [0, 1, chunkBytesMax - 1, chunkBytesMax, chunkBytesMax + 1, bytes.length - 1]
      for (const start of places) {
        for (const end of places.filter((end) => end >= start)) {
          assert.deepStrictEqual(yield* collect(get("borders", { start, end })), bytes.slice(start, end + 1))
        }
      }
    }))

  it.effect("reads in chunks of at most 256 KiB that the reader may keep", () =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      const bytes = bytesOf(4 * chunkBytesMax)
      yield* put("chunks", Stream.succeed(bytes), options)
      const chunks = yield* Stream.runCollect(get("chunks"))
      assert.isAtMost(Math.max(...chunks.map(({ length }) => length)), chunkBytesMax)
      assert.deepStrictEqual(Uint8Array.from(Buffer.concat(chunks)), bytes)
    }))

  it.effect("fails for a range beyond the end of the blob", () =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      yield* put("short", streamOf(bytesOf(10)), options)
      for (const range of [{ start: 0, end: 10 }, { start: 10, end: 10 }, { start: 11, end: 20 }]) {
        const { reason } = yield* Effect.flip(collect(get("short", range)))
        assert.deepInclude(reason, { _tag: "OutOfRange", key: "short", bytes: 10 })
      }
    }))
}
