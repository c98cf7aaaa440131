/** Tests of keys and of deletion. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { BlobStore } from "../../BlobStore.ts"
import { bytesOf, collect, options, reasonOf, streamOf } from "./bytes.ts"

/** Registers them. */
export const keyTests = (it: Vitest.MethodsNonLive<BlobStore>): void => {
  it.effect("deletes a set, and ignores keys without a blob", () =>
    Effect.gen(function*() {
      const { delete: remove, get, head, put } = yield* BlobStore
      for (const key of ["gone/1", "gone/2", "stays"]) yield* put(key, streamOf(bytesOf(10)), options)
      yield* remove(["gone/1", "gone/2", "never/there", "gone/1"])
      yield* remove(["gone/1"])
      yield* remove([])
      assert.strictEqual(yield* reasonOf(head("gone/1")), "NotFound")
      assert.strictEqual(yield* reasonOf(collect(get("gone/2"))), "NotFound")
      assert.strictEqual((yield* head("stays")).bytes, 10)
    }))

  it.effect("rejects an invalid key in every operation", () =>
    Effect.gen(function*() {
      const { delete: remove, get, head, put } = yield* BlobStore
      yield* put("good", streamOf(bytesOf(10)), options)
      const key = "../good"
      assert.strictEqual(yield* reasonOf(put(key, streamOf(bytesOf(10)), options)), "InvalidKey")
      assert.strictEqual(yield* reasonOf(collect(get(key))), "InvalidKey")
      assert.strictEqual(yield* reasonOf(head(key)), "InvalidKey")
      assert.strictEqual(yield* reasonOf(remove(["good", key])), "InvalidKey")
      assert.strictEqual((yield* head("good")).bytes, 10)
    }))

  it.effect("distinguishes similar keys", () =>
    Effect.gen(function*() {
      const { get, put } = yield* BlobStore
      const keys = ["a/b", "a.b", "a-b", "a_b", "ab", "a/b/c", "a", "x".repeat(128)]
      for (const [index, key] of keys.entries()) yield* put(key, streamOf(bytesOf(10, index)), options)
      for (const [index, key] of keys.entries()) {
        assert.deepStrictEqual(yield* collect(get(key)), bytesOf(10, index))
      }
    }))
}
