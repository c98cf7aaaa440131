/** Tests of puts that publish nothing. */
import { assert, type Vitest } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { BlobStore } from "../../BlobStore.ts"
import { bytesOf, collect, options, putEndless, reasonOf, streamOf } from "./bytes.ts"

/** Registers them. */
export const failureTests = (it: Vitest.MethodsNonLive<BlobStore>): void => {
  it.effect("accepts bytesMax bytes, and publishes nothing of one byte more", () =>
    Effect.gen(function*() {
      const { get, head, put } = yield* BlobStore
      const capped = { bytesMax: 5_000, contentType: "image/png" }
      yield* put("capped", streamOf(bytesOf(5_000)), capped)
      const { reason } = yield* Effect.flip(put("capped", streamOf(bytesOf(5_001, 2)), capped))
      assert.deepInclude(reason, { _tag: "TooLarge", key: "capped", bytesMax: 5_000 })
      assert.deepStrictEqual(yield* collect(get("capped")), bytesOf(5_000))
      assert.strictEqual(yield* reasonOf(put("over", streamOf(bytesOf(5_001)), capped)), "TooLarge")
      assert.strictEqual(yield* reasonOf(head("over")), "NotFound")
    }))

  it.effect("stops an endless stream at bytesMax", () =>
    Effect.gen(function*() {
      // A store may read ahead.
      assert.isAtMost(yield* putEndless("endless", 10_500), 1_000)
    }))

  it.effect("fails with the failure of the stream, and publishes nothing", () =>
    Effect.gen(function*() {
      const { get, head, put } = yield* BlobStore
      const broken = Stream.concat(streamOf(bytesOf(5_000, 2)), Stream.fail("cut off" as const))
      assert.strictEqual(yield* Effect.flip(put("broken", broken, options)), "cut off")
      assert.strictEqual(yield* reasonOf(head("broken")), "NotFound")
      yield* put("kept", streamOf(bytesOf(100)), options)
      assert.strictEqual(yield* Effect.flip(put("kept", broken, options)), "cut off")
      assert.deepStrictEqual(yield* collect(get("kept")), bytesOf(100))
    }))

  it.effect("publishes nothing before the end, and nothing when the put is interrupted", () =>
    Effect.gen(function*() {
      const { head, put } = yield* BlobStore
      const written = yield* Deferred.make<void>()
      const stalled = streamOf(bytesOf(5_000)).pipe(
        Stream.concat(Stream.fromEffectDrain(Deferred.succeed(written, undefined))),
        Stream.concat(Stream.never)
      )
      const fiber = yield* Effect.forkChild(put("interrupted", stalled, options))
      yield* Deferred.await(written)
      assert.strictEqual(yield* reasonOf(head("interrupted")), "NotFound")
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* reasonOf(head("interrupted")), "NotFound")
    }))

  it.effect("works after a put has died", () =>
    Effect.gen(function*() {
      const { get, head, put } = yield* BlobStore
      const exit = yield* Effect.exit(put("died", Stream.concat(streamOf(bytesOf(10)), Stream.die("bug")), options))
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(yield* reasonOf(head("died")), "NotFound")
      yield* put("died", streamOf(bytesOf(10)), options)
      assert.strictEqual((yield* collect(get("died"))).length, 10)
    }))
}
