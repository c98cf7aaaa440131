/** Stored files with fewer or more bytes than their records have: a client does not take such a response for complete. */
import { assert, describe, it } from "@effect/vitest"
import { BlobStore, FileBlobStore } from "@kinora/storage"
import * as MemoryDirectory from "@kinora/testkit/MemoryDirectory"
import { mp4, png } from "@kinora/testkit/upstreams/Results"
import { Cause, Effect, Layer, Logger, References, Stream } from "effect"
import { mkdtemp, readdir, rm, truncate } from "node:fs/promises"
import { join } from "node:path"
import * as Books from "../src/Books.ts"
import * as Client from "../src/Client.ts"
import * as FileGenerator from "../src/FileGenerator.ts"
import * as LocalHost from "../src/LocalHost.ts"
import * as RawHttp from "../src/RawHttp.ts"

/** A video with zeros at its end, which the buffers of two sockets do not hold. */
const longVideo = () => {
  const bytes = new Uint8Array(64 * 1024 ** 2)
  bytes.set(mp4.bytes)
  new DataView(bytes.buffer).setUint32(mp4.bytes.length, bytes.length - mp4.bytes.length)
  bytes.set(new TextEncoder().encode("free"), mp4.bytes.length + 4)
  return bytes
}

const picture = { mime: "image/png", bytes: png.bytes } as const

/** Chunks that the store returns instead of the bytes of the range. */
type Damage = (bytes: Uint8Array) => ReadonlyArray<Uint8Array>

const damages: Readonly<Record<string, Damage>> = {
  "nothing": () => [],
  "fewer bytes in one chunk": (bytes) => [bytes.subarray(1)],
  "fewer bytes in two chunks": (bytes) => [bytes.subarray(0, 20), bytes.subarray(21)],
  "one more byte": (bytes) => [bytes.subarray(0, 20), bytes.subarray(20), Uint8Array.of(0)],
  "a longer chunk": (bytes) => [bytes.subarray(0, 20), new Uint8Array(bytes.length)]
}

/** Runs an effect on a host with these files, which stores them in `blobs`. It receives a client, and the errors that the host logs. */
const onHost = <E>(
  blobs: Layer.Layer<BlobStore.BlobStore, E>,
  files: Readonly<Record<string, FileGenerator.GivenFile>>
) =>
  Effect.gen(function*() {
    const errors: Array<{ readonly message: string; readonly hasRequestId: boolean }> = []
    const logger = Logger.make<unknown, void>(({ cause, fiber, logLevel, message }) => {
      if (logLevel !== "Error") return
      const hasRequestId = "request_id" in fiber.getRef(References.CurrentLogAnnotations)
      errors.push({ message: `${String(message)}: ${Cause.pretty(cause)}`, hasRequestId })
    })
    const context = yield* LocalHost.layer({
      models: FileGenerator.models(files),
      generator: FileGenerator.layer(files),
      blobs: Layer.orDie(blobs),
      http: { resultDownloadMultiple: 1_000 }
    }).pipe(Layer.build, Effect.provide(Logger.layer([logger])))
    const { key } = yield* Effect.provide(Books.openAccount({ credits: 10 }), context)
    const baseUrl = yield* Effect.provide(LocalHost.baseUrl, context)
    const client = Client.make(baseUrl, key)
    /** Completes a job, and returns the path of its result. */
    const makeResult = Effect.fnUntraced(function*(model: string) {
      const { id } = yield* client.createJob({ model })
      const { output } = yield* client.awaitEnd(id)
      const { pathname, search } = new URL(output?.url ?? "")
      return `${pathname}${search}`
    })
    return { authorization: `Bearer ${key}`, baseUrl, errors, makeResult }
  })

describe("a file whose length is not the promised one", () => {
  it.live("is not sent as a complete response, neither over the connection nor as a stream, a part or base64", () =>
    Effect.gen(function*() {
      let damage: Damage | undefined
      const damaged = Layer.effect(
        BlobStore.BlobStore,
        Effect.map(BlobStore.BlobStore, (blobs) =>
          BlobStore.BlobStore.of({
            ...blobs,
            get: (key, range) => {
              const change = damage
              const stream = blobs.get(key, range)
              return change === undefined
                ? stream
                : Stream.rechunk(
                  Stream.flatMap(
                    Stream.fromEffect(Stream.mkUint8Array(stream)),
                    (bytes) => Stream.fromIterable(change(bytes))
                  ),
                  1
                )
            }
          }))
      ).pipe(Layer.provide(BlobStore.layerMemory))
      const { authorization, baseUrl, errors, makeResult } = yield* onHost(damaged, {
        "linked": picture,
        "encoded": picture
      })
      const target = yield* makeResult("linked")
      const order = JSON.stringify({ model: "encoded", plan: "credits", prompt: "a lake", response_format: "b64_json" })
      const post = [["authorization", authorization], ["content-type", "application/json"]] as const
      const requests: Readonly<Record<string, RawHttp.BytesRequest>> = {
        "whole": { method: "GET", target },
        "part": { method: "GET", target, headers: [["range", "bytes=10-59"]] },
        "stream": { method: "GET", target, headers: [["expect", "nothing"]] },
        "base64": { method: "POST", target: "/v1/images/generations", headers: post, body: order }
      }
      for (const [way, request] of Object.entries(requests)) {
        const good = yield* RawHttp.sendBytes(baseUrl, request)
        assert.include([200, 206], good.status, `${way}: ${String(good.bytes)}`)
        assert.strictEqual(good.bytes.length, Number(good.headers["content-length"]), way)
      }
      assert.deepStrictEqual(errors, [])
      for (const [name, change] of Object.entries(damages)) {
        damage = change
        for (const [way, request] of Object.entries(requests)) {
          const what = `${name}, ${way}`
          const received = yield* Effect.option(RawHttp.sendBytes(baseUrl, request))
          const isBroken = received._tag === "None" || received.value.status === 500 ||
            received.value.bytes.length < Number(received.value.headers["content-length"])
          assert.isTrue(isBroken, what)
          assert.deepStrictEqual(errors.map(({ hasRequestId }) => hasRequestId), [true], what)
          assert.match(errors[0]?.message ?? "", /The store returned \d+ instead of \d+ bytes/, what)
          errors.length = 0
        }
      }
    }))

  it.live("is rejected if it was truncated before, and breaks the response while it is sent", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(MemoryDirectory.parent(), "kinora-damaged-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
      )
      const bytes = longVideo()
      const { baseUrl, errors, makeResult } = yield* onHost(
        FileBlobStore.layer({ directory }),
        { "video": { mime: "video/mp4", bytes } }
      )
      const target = yield* makeResult("video")
      const blob = yield* Effect.promise(async () => {
        const names = await readdir(join(directory, "blobs"), { recursive: true })
        return join(directory, "blobs", names.find((name) => name.endsWith("content")) ?? "")
      })

      const socket = yield* RawHttp.open(baseUrl)
      yield* RawHttp.write(socket, { method: "GET", target })
      yield* RawHttp.readSome(socket, 1_000)
      yield* Effect.promise(() => truncate(blob, bytes.length - 1))
      const rest = yield* Effect.callback<number>((resume) => {
        let count = 0
        socket.on("data", (chunk) => {
          count += chunk.length
        })
        socket.once("close", () => resume(Effect.succeed(count))).resume()
      })
      assert.isBelow(rest, bytes.length)
      assert.lengthOf(errors, 1)
      errors.length = 0

      const refused = yield* Client.send(`${baseUrl}${target}`)
      assert.deepStrictEqual([refused.status, Client.errorCodeOf(refused)], [500, "internal_error"])
      const part = yield* Client.send(`${baseUrl}${target}`, { headers: { range: "bytes=0-99" } })
      assert.deepStrictEqual([part.status, part.bytes.length], [206, 100])
      const last = yield* Client.send(`${baseUrl}${target}`, { headers: { range: "bytes=-1" } })
      assert.strictEqual(last.status, 500)
      assert.lengthOf(errors, 2)
    }).pipe(Effect.scoped))
})
