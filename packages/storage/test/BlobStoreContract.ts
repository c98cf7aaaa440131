import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, type Layer, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import type { BlobError } from "../src/BlobError.ts"
import { BlobStore, type ByteRange, chunkBytesMax } from "../src/BlobStore.ts"

/** Returns bytes that differ by position. */
export const bytesOf = (length: number, seed = 1): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = Math.imul(i + seed, 2_654_435_761) >>> 24
  return bytes
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

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

export const collect = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Uint8Array.from(Buffer.concat(chunks)))

const options = { bytesMax: 10_000_000, contentType: "video/mp4" }

const reasonOf = <A, E>(effect: Effect.Effect<A, E | BlobError>) => Effect.map(Effect.flip(effect), tagOf)

const tagOf = (error: unknown) =>
  typeof error === "object" && error !== null && "reason" in error ? (error as BlobError).reason._tag : error

/** The contract of `BlobStore`, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<BlobStore, E>) =>
  layer(backend)(`BlobStore (${name})`, (it) => {
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
        const { put } = yield* BlobStore
        let chunks = 0
        const endless = Stream.forever(Stream.sync(() => {
          chunks++
          return new Uint8Array(1_000)
        }))
        const capped = { bytesMax: 10_500, contentType: "image/png" }
        assert.strictEqual(yield* reasonOf(put("endless", endless, capped)), "TooLarge")
        assert.strictEqual(chunks, 11)
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

    it.effect("fails for a range beyond the end of the blob", () =>
      Effect.gen(function*() {
        const { get, put } = yield* BlobStore
        yield* put("short", streamOf(bytesOf(10)), options)
        for (const range of [{ start: 0, end: 10 }, { start: 10, end: 10 }, { start: 11, end: 20 }]) {
          const { reason } = yield* Effect.flip(collect(get("short", range)))
          assert.deepInclude(reason, { _tag: "OutOfRange", key: "short", bytes: 10 })
        }
      }))

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

    it.effect("works after a put has died", () =>
      Effect.gen(function*() {
        const { get, head, put } = yield* BlobStore
        const exit = yield* Effect.exit(put("died", Stream.concat(streamOf(bytesOf(10)), Stream.die("bug")), options))
        assert.isTrue(Exit.isFailure(exit))
        assert.strictEqual(yield* reasonOf(head("died")), "NotFound")
        yield* put("died", streamOf(bytesOf(10)), options)
        assert.strictEqual((yield* collect(get("died"))).length, 10)
      }))
  })
