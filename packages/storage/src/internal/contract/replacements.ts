/** Tests of blobs that are put again. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { BlobStore, chunkBytesMax } from "../../BlobStore.ts"
import { bytesOf, collect, options, sha256, streamOf } from "./bytes.ts"

/** Registers them. */
export const replacementTests = (it: Vitest.MethodsNonLive<BlobStore>): void => {
  it.effect("replaces a blob when its key is put again", () =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      yield* put("again", streamOf(bytesOf(5_000, 1)), options)
      yield* put("again", streamOf(bytesOf(300, 2)), options)
      assert.deepStrictEqual(yield* collect(get("again")), bytesOf(300, 2))
    }))

  it.effect("continues to read a blob that is replaced or deleted meanwhile", () =>
    Effect.gen(function*() {
      const { delete: remove, get, put } = yield* BlobStore
      const old = bytesOf(3 * chunkBytesMax)
      for (const change of [put("meanwhile", streamOf(bytesOf(10, 2)), options), remove(["meanwhile"])]) {
        yield* put("meanwhile", streamOf(old, 100_000), options)
        let isChanged = false
        const read = yield* collect(
          get("meanwhile").pipe(
            Stream.tap(() => {
              if (isChanged) return Effect.void
              isChanged = true
              return change
            })
          )
        )
        assert.isTrue(isChanged)
        assert.deepStrictEqual(read, old)
      }
    }))

  it.effect("keeps one of many concurrent puts of a key, complete", () =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      const seeds = Array.from({ length: 16 }, (_, index) => index + 1)
      const blobs = yield* Effect.forEach(seeds, (seed) =>
        put("race", streamOf(bytesOf(20_000 + seed, seed), 999), options), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        blobs.map((blob) =>
          blob.sha256
        ),
        seeds.map((seed) => sha256(bytesOf(20_000 + seed, seed)))
      )
      const found = sha256(yield* collect(get("race")))
      assert.isTrue(blobs.some((blob) => blob.sha256 === found))
    }))
}
