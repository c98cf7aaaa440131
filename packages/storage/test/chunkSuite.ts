/** The chunks that the stores of this package read, and their sizes. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Stream } from "effect"
import { BlobStore, type ByteRange, chunkBytesMax } from "../src/BlobStore.ts"
import { bytesOf, options, putEndless, streamOf } from "../src/internal/contract/bytes.ts"

export const chunkSuite = <E>(name: string, store: Layer.Layer<BlobStore, E>) =>
  layer(store)(`chunks (${name})`, (it) => {
    it.effect("reads a chunk when the reader pulls it, larger ones after 8 MiB", () =>
      Effect.gen(function*() {
        const { get, put } = yield* BlobStore
        const small = Array.from({ length: 128 }, () => 64 * 1024)
        const bytes = bytesOf(8 * 1024 ** 2 + 2 * chunkBytesMax + 1)
        yield* put("chunks", streamOf(bytes, 100_000), options)
        const lengthsOf = (range?: ByteRange) =>
          Stream.runCollect(
            Stream.map(Stream.chunks(get("chunks", range)), (chunks) => chunks.map(({ length }) => length))
          )
        assert.deepStrictEqual(
          yield* lengthsOf(),
          [...small, chunkBytesMax, chunkBytesMax, 1].map((length) => [length])
        )
        assert.deepStrictEqual(
          yield* lengthsOf({ start: 10, end: bytes.length - 1 }),
          [...small, chunkBytesMax, chunkBytesMax - 9].map((length) => [length])
        )
        assert.deepStrictEqual(yield* lengthsOf({ start: 10, end: 9 + 64 * 1024 }), [[64 * 1024]])
        assert.deepStrictEqual(yield* lengthsOf({ start: 10, end: 10 + 64 * 1024 }), [[64 * 1024], [1]])
      }))

    it.effect("reads no chunk after the one that exceeds bytesMax", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* putEndless("endless", 10_500), 11)
      }))
  })
