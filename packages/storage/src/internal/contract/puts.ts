/** Tests of what a put stores. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { BlobStore } from "../../BlobStore.ts"
import { bytesOf, collect, options, reasonOf, sha256, streamOf } from "./bytes.ts"

/** Registers them. */
export const putTests = (it: Vitest.MethodsNonLive<BlobStore>): void => {
  it.effect("returns what was put, with its size and hash", () =>
    Effect.gen(function*() {
      const { get, head, put } = yield* BlobStore
      const bytes = bytesOf(1_000_000)
      const blob = yield* put("back/and-forth.mp4", streamOf(bytes, 7_777), options)
      assert.deepStrictEqual(blob, {
        key: "back/and-forth.mp4",
        bytes: 1_000_000,
        sha256: sha256(bytes),
        contentType: "video/mp4"
      })
      assert.deepStrictEqual(yield* collect(get(blob.key)), bytes)
      assert.deepStrictEqual(yield* head(blob.key), { key: blob.key, bytes: 1_000_000 })
    }))

  it.effect("stores an empty blob", () =>
    Effect.gen(function*() {
      const { get, head, put } = yield* BlobStore
      const blob = yield* put("empty", Stream.empty, options)
      assert.deepInclude(blob, { bytes: 0, sha256: sha256(new Uint8Array()) })
      assert.strictEqual((yield* collect(get("empty"))).length, 0)
      assert.strictEqual((yield* head("empty")).bytes, 0)
      assert.strictEqual(yield* reasonOf(collect(get("empty", { start: 0, end: 0 }))), "OutOfRange")
    }))

  it.effect("accepts a source that reuses one buffer for all chunks", () =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      const buffer = Buffer.alloc(4)
      const stream = Stream.fromIterable([1, 2, 3], { chunkSize: 1 }).pipe(Stream.map((n) => buffer.fill(n)))
      yield* put("reused", stream, options)
      assert.deepStrictEqual(Array.from(yield* collect(get("reused"))), [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
    }))
}
