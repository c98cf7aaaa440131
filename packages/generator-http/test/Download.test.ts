import { assert, describe, it } from "@effect/vitest"
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import * as ProviderFailure from "@kinora/generator/ProviderFailure"
import { type Handler, json, listen } from "@kinora/testkit/upstreams/Listener"
import { Duration, Effect, Fiber, Latch, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { makeDownload } from "../src/internal/download.ts"
import * as Failures from "../src/internal/failures.ts"
import * as Upstream from "../src/internal/upstream.ts"
import type { UpstreamOptions } from "../src/UpstreamOptions.ts"

const picture = Buffer.alloc(100_000, "picture")

const serving: Handler = (_, response) =>
  void response.writeHead(200, { "content-type": "Image/PNG; q=1" }).end(picture)

const redirecting = (location: string): Handler => (_, response) => void response.writeHead(302, { location }).end()

/** An upstream on this machine that responds like this, and downloads through it. */
const sceneOf = Effect.fnUntraced(function*(handle: Handler, options: UpstreamOptions = {}) {
  const server = yield* listen(handle)
  const upstream = yield* Upstream.make({
    baseUrl: `${server.origin}/v1`,
    credentials: { authorization: Redacted.make("Bearer key-1") }
  }, options)
  const download = yield* makeDownload(upstream, options)
  const read = (target: string) =>
    Effect.scoped(Effect.gen(function*() {
      const { body, mime } = yield* download(target)
      return { mime, bytes: Buffer.concat(yield* Stream.runCollect(body)) }
    }))
  return { server, read }
})

const reasonOf = <A>(effect: Effect.Effect<A, GeneratorError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

describe("own origin", () => {
  it.effect("a result is requested with the credentials and streamed whole", () =>
    Effect.gen(function*() {
      const { read, server } = yield* sceneOf(serving)
      for (const target of ["/files/1", `${server.origin}/v1/files/1`]) {
        assert.deepStrictEqual(yield* read(target), { mime: "image/png", bytes: picture })
      }
      assert.deepStrictEqual(server.requests.map(({ path }) => path), ["/v1/files/1", "/v1/files/1"])
      for (const { headers } of server.requests) assert.strictEqual(headers.authorization, "Bearer key-1")
    }))

  it.effect("a redirect to another origin loses the credentials", () =>
    Effect.gen(function*() {
      const storage = yield* listen(serving)
      const { read, server } = yield* sceneOf(redirecting(`${storage.origin}/file`), { private: true })
      assert.deepStrictEqual((yield* read("/files/1")).bytes, picture)
      assert.lengthOf(server.requests, 1)
      assert.deepStrictEqual(storage.requests.map(({ headers, path }) => [path, headers.authorization]), [
        ["/file", undefined]
      ])
    }))

  it.effect("a redirect to a private address is not followed", () =>
    Effect.gen(function*() {
      const inside = yield* listen(serving)
      const { read } = yield* sceneOf(redirecting(`${inside.origin}/latest/meta-data`))
      assert.deepStrictEqual(yield* reasonOf(read("/files/1")), ProviderFailure.permanent("unusable"))
      assert.lengthOf(inside.requests, 0)
    }))

  it.effect("a redirect that never ends is not followed for ever", () =>
    Effect.gen(function*() {
      const { read, server } = yield* sceneOf(redirecting("/again"))
      assert.deepStrictEqual(yield* reasonOf(read("/files/1")), ProviderFailure.permanent("unusable"))
      assert.lengthOf(server.requests, 4)
    }))

  it.effect("a missing result is a permanent failure, and a busy upstream is transient", () =>
    Effect.gen(function*() {
      const gone = yield* sceneOf((_, response) => json(response, 404, {}))
      assert.deepStrictEqual(yield* reasonOf(gone.read("/files/1")), ProviderFailure.permanent("gone"))
      const busy = yield* sceneOf((_, response) => json(response, 503, {}, { "retry-after": "4" }))
      assert.deepStrictEqual(yield* reasonOf(busy.read("/files/1")), Failures.transient(Duration.seconds(4)))
    }))
})

describe("another origin", () => {
  it.effect("a result at a private address is requested only if the upstream is private", () =>
    Effect.gen(function*() {
      const storage = yield* listen(serving)
      const open = yield* sceneOf(serving)
      assert.deepStrictEqual(
        yield* reasonOf(open.read(`${storage.origin}/file`)),
        ProviderFailure.permanent("unusable")
      )
      assert.lengthOf(storage.requests, 0)
      const own = yield* sceneOf(serving, { private: true })
      assert.deepStrictEqual((yield* own.read(`${storage.origin}/file#1`)).bytes, picture)
      assert.strictEqual(storage.requests[0]?.headers.authorization, undefined)
    }))

  it.effect("a redirect back to the upstream gets no credentials, and is guarded", () =>
    Effect.gen(function*() {
      const { read, server } = yield* sceneOf(serving, { private: true })
      const storage = yield* listen(redirecting(`${server.origin}/v1/keys`))
      yield* read(`${storage.origin}/file`)
      assert.deepStrictEqual(server.requests.map(({ headers, path }) => [path, headers.authorization]), [
        ["/v1/keys", undefined]
      ])
    }))

  it.effect("a storage that rejects the URL no longer has the result", () =>
    Effect.gen(function*() {
      const storage = yield* listen((_, response) => json(response, 403, {}))
      const { read } = yield* sceneOf(serving, { private: true })
      assert.deepStrictEqual(yield* reasonOf(read(`${storage.origin}/file`)), ProviderFailure.permanent("gone"))
    }))

  it.effect("only http and https URLs are requested", () =>
    Effect.gen(function*() {
      const { read } = yield* sceneOf(serving, { private: true })
      for (const target of ["file:///etc/passwd", "data:image/png;base64,AA==", "ftp://127.0.0.1/", "no url"]) {
        assert.deepStrictEqual(yield* reasonOf(read(target)), ProviderFailure.permanent("unusable"), target)
      }
    }))
})

describe("limits", () => {
  it.effect("a result that announces too many bytes is not read", () =>
    Effect.gen(function*() {
      const { read } = yield* sceneOf((_, response) => {
        response.writeHead(200, { "content-length": "10000000000" }).write("x")
      })
      assert.deepStrictEqual(yield* reasonOf(read("/files/1")), ProviderFailure.permanent("unusable"))
    }))

  it.effect("a result without an end is read up to the limit", () =>
    Effect.gen(function*() {
      const closed = Latch.makeUnsafe(false)
      const { read } = yield* sceneOf((_, response) => {
        const write = () => {
          while (response.write(picture));
        }
        response.on("close", () => closed.openUnsafe()).on("drain", write).writeHead(200)
        write()
      }, { result_bytes_max: 1_000_000 })
      assert.deepStrictEqual(yield* reasonOf(read("/files/1")), ProviderFailure.permanent("unusable"))
      yield* closed.await
    }))

  it.effect("a result of exactly the limit is complete", () =>
    Effect.gen(function*() {
      const { read } = yield* sceneOf(serving, { result_bytes_max: picture.length })
      assert.strictEqual((yield* read("/files/1")).bytes.length, picture.length)
    }))

  it.effect("a result that breaks off is transient", () =>
    Effect.gen(function*() {
      const { read } = yield* sceneOf((_, response) => {
        response.writeHead(200, { "content-length": "1000" }).write(Buffer.alloc(500), () => response.destroy())
      })
      assert.strictEqual((yield* reasonOf(read("/files/1")))._tag, "Transient")
    }))

  it.effect("a result that pauses for too long is transient, and its connection closes", () =>
    Effect.gen(function*() {
      const closed = Latch.makeUnsafe(false)
      const reading = Latch.makeUnsafe(false)
      const server = yield* listen((_, response) => {
        response.on("close", () => closed.openUnsafe()).writeHead(200).write("the first part")
      })
      const options = { idle_timeout: Duration.seconds(5) }
      const upstream = yield* Upstream.make({ baseUrl: server.origin }, options)
      const download = yield* makeDownload(upstream, options)
      const read = Effect.flatMap(download("/files/1"), ({ body }) => Stream.runForEach(body, () => reading.open))
      const fiber = yield* Effect.forkChild(reasonOf(Effect.scoped(read)))
      yield* reading.await
      // The time limit of the second part starts after the first part was read.
      const passing = Effect.forever(Effect.andThen(TestClock.adjust("1 second"), Effect.yieldNow))
      assert.strictEqual((yield* Effect.raceFirst(Fiber.join(fiber), passing))._tag, "Transient")
      yield* closed.await
    }))

  it.effect("an upstream that does not respond is transient", () =>
    Effect.gen(function*() {
      const received = Latch.makeUnsafe(false)
      const { read } = yield* sceneOf(() => received.openUnsafe(), { call_timeout: Duration.seconds(5) })
      const fiber = yield* Effect.forkChild(reasonOf(read("/files/1")))
      yield* received.await
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Transient")
    }))
})
