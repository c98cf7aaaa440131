/** Tests of the contract that every driver passes. */
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { GenerationRequest, InputImage } from "../../GenerationRequest.ts"
import { GeneratorError, Transient } from "../../GeneratorError.ts"
import { type Contract, failureOf, read } from "./contract.ts"
import type { ImageOptions } from "./options.ts"

/** Work that succeeds. */
export const resultTests = ({ request, result, start, submit, test }: Contract) => {
  test(
    "returns a result of the requested kind for work that succeeds",
    Effect.gen(function*() {
      const instance = yield* start
      const wanted = request()
      const { base64, mime } = yield* result(instance, yield* submit(instance, wanted))
      assert.isTrue(mime.startsWith(`${wanted.kind}/`), mime)
      assert.isAbove(base64.length, 0)
    })
  )

  test(
    "returns the same result when it is collected twice",
    Effect.gen(function*() {
      const instance = yield* start
      const operation = yield* submit(instance, request())
      const first = yield* result(instance, operation)
      assert.deepStrictEqual(yield* read(instance, operation), first)
    })
  )

  test(
    "returns the same operation for the same id, if resubmit is safe",
    Effect.gen(function*() {
      const instance = yield* start
      const wanted = request()
      const operation = yield* submit(instance, wanted)
      if (instance.resubmit === "safe") assert.deepStrictEqual(yield* submit(instance, wanted), operation)
      yield* result(instance, operation)
      if (instance.resubmit === "safe") assert.deepStrictEqual(yield* submit(instance, wanted), operation)
    })
  )

  test(
    "returns different operations for different ids",
    Effect.gen(function*() {
      const instance = yield* start
      const operations = [yield* submit(instance, request()), yield* submit(instance, request())]
      assert.notDeepEqual(operations[0], operations[1])
      for (const operation of operations) yield* result(instance, operation)
    })
  )

  test(
    "keeps the result of finished work that is cancelled",
    Effect.gen(function*() {
      const instance = yield* start
      const operation = yield* submit(instance, request())
      yield* result(instance, operation)
      yield* instance.cancel(operation)
      yield* instance.cancel(operation)
      yield* result(instance, operation)
    })
  )
}

/** Operations that the driver did not create. */
export const foreignTests = ({ start, test }: Contract) =>
  test(
    "returns Failed for operations of other drivers, and ignores their cancellation",
    Effect.gen(function*() {
      const instance = yield* start
      for (const operation of [null, "foreign", 7, [], {}, { id: "foreign" }]) {
        assert.strictEqual((yield* instance.poll(operation))._tag, "Failed", JSON.stringify(operation))
        const { reason } = yield* Effect.flip(Effect.scoped(instance.collect(operation)))
        assert.strictEqual(reason._tag, "Permanent", JSON.stringify(operation))
        yield* instance.cancel(operation)
      }
    })
  )

/** Another process cannot continue, because the process that submitted has the result. */
export const memoryTests = ({ request, start, submit, test }: Contract) =>
  test(
    "fails permanently in another process",
    Effect.gen(function*() {
      const operation = yield* submit(yield* start, request())
      const other = yield* start
      assert.strictEqual((yield* failureOf(other.poll(operation)))._tag, "Permanent")
      assert.strictEqual((yield* failureOf(read(other, operation)))._tag, "Permanent")
      yield* other.cancel(operation)
    })
  )

/** Another process continues. */
export const restartTests = ({ ended, request, result, start, submit, test }: Contract) => {
  test(
    "continues in another process after submit",
    Effect.gen(function*() {
      const operation = yield* submit(yield* start, request())
      yield* result(yield* start, operation)
    })
  )

  test(
    "continues in another process after every poll, and after collect",
    Effect.gen(function*() {
      const operation = yield* submit(yield* start, request())
      const status = yield* (yield* start).poll(operation)
      if (status._tag === "Pending") yield* ended(yield* start, operation)
      const first = yield* result(yield* start, operation)
      assert.deepStrictEqual(yield* result(yield* start, operation), first)
    })
  )

  test(
    "submits again in another process, if resubmit is safe",
    Effect.gen(function*() {
      const first = yield* start
      if (first.resubmit === "unsafe") return
      const wanted = request()
      const operation = yield* submit(first, wanted)
      const second = yield* start
      yield* result(second, yield* submit(second, wanted))
      yield* result(first, operation)
    })
  )

  test(
    "cancels work of another process",
    Effect.gen(function*() {
      const operation = yield* submit(yield* start, request())
      yield* (yield* start).cancel(operation)
    })
  )
}

/** Work that runs until it is cancelled. */
export const runningTests = (contract: Contract, running: Partial<GenerationRequest>) => {
  const { pollOnce, request, start, submit, test } = contract

  test(
    "is pending while work runs, and cannot be collected",
    Effect.gen(function*() {
      const instance = yield* start
      const operation = yield* submit(instance, request(running))
      assert.strictEqual((yield* pollOnce(instance, operation))._tag, "Pending")
      const error = yield* Effect.flip(Effect.scoped(instance.collect(operation)))
      assert.strictEqual(error.reason._tag, "Transient")
      yield* instance.cancel(operation)
    })
  )
}

/** Work that is cancelled while it runs. */
export const cancelTests = ({ ended, request, start, submit, test }: Contract, running: Partial<GenerationRequest>) =>
  test(
    "fails work that is cancelled while it runs, also when it is cancelled twice",
    Effect.gen(function*() {
      const instance = yield* start
      const operation = yield* submit(instance, request(running))
      yield* instance.cancel(operation)
      yield* instance.cancel(operation)
      // A provider may forget cancelled work.
      const { _tag } = yield* failureOf(ended(instance, operation))
      assert.include(["Permanent", "Lost"], _tag)
    })
  )

/** Requests with input images. */
export const imageTests = ({ request, result, start, submit, test }: Contract, image: ImageOptions) => {
  const { file, height, mime, mode, width } = image
  const kind = mode === "image_to_image" ? "image" : "video"
  const withBody = (body: InputImage["body"]) =>
    request({ kind, mode, images: [{ mime, width, height, bytes: file.length, body }] })

  test(
    "reads input images during submit",
    Effect.gen(function*() {
      const instance = yield* start
      let reads = 0
      const body = Stream.suspend(() => {
        reads++
        return Stream.make(file)
      })
      const operation = yield* submit(instance, withBody(body))
      assert.isAbove(reads, 0)
      const readsOfSubmit = reads
      yield* result(instance, operation)
      assert.strictEqual(reads, readsOfSubmit)
    })
  )

  test(
    "fails with the failure of an input image, and accepts the request later",
    Effect.gen(function*() {
      const instance = yield* start
      const broken = withBody(Stream.fail(new GeneratorError({ reason: new Transient({}) })))
      const error = yield* Effect.flip(instance.submit(broken))
      assert.strictEqual(error.reason._tag, "Transient")
      const images = broken.images.map((image) => ({ ...image, body: Stream.make(file) }))
      yield* result(instance, yield* submit(instance, { ...broken, images }))
    })
  )
}
