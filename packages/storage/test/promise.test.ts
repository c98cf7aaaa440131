/** Blobs and links of programs without Effect. */
import { assert, describe, it } from "@effect/vitest"
import { Layer, Tracer } from "effect"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { Readable } from "node:stream"
import { bytesOf } from "../src/internal/contract/bytes.ts"
import {
  BlobNotFoundError,
  type BlobStore,
  createBlobStore,
  createUrlSigner,
  InvalidKeyError,
  OutOfRangeError,
  TooLargeError,
  UnavailableError
} from "../src/promise.ts"

const options = { bytesMax: 1_000_000, contentType: "video/mp4" }
const bytes = bytesOf(700_000)

const read = async (stream: ReadableStream<Uint8Array>) => new Uint8Array(await new Response(stream).arrayBuffer())
const refusal = (call: Promise<unknown>) => call.catch((error: unknown) => error)

/** Calls the body with the path of a new directory, and removes the directory afterwards. */
const inDirectory = async (body: (directory: string) => Promise<void>) => {
  const directory = mkdtempSync(path.join(tmpdir(), "blobs-"))
  try {
    await body(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const stores: Record<string, (body: (blobs: BlobStore) => Promise<void>) => Promise<void>> = {
  memory: async (body) => {
    await using blobs = await createBlobStore({ memory: true })
    await body(blobs)
  },
  directory: (body) =>
    inDirectory(async (directory) => {
      await using blobs = await createBlobStore({ directory })
      await body(blobs)
    })
}

it("traces calls with the tracer of `telemetry`", async () => {
  const names: Array<string> = []
  const tracer = Tracer.make({
    span: (options) => {
      names.push(options.name)
      return new Tracer.NativeSpan(options)
    }
  })
  await using blobs = await createBlobStore({ memory: true, telemetry: Layer.succeed(Tracer.Tracer, tracer) })
  await blobs.put("a", bytes, options)
  assert.include(names, "BlobStore.put")
})

describe.each(Object.entries(stores))("createBlobStore (%s)", (_name, withStore) => {
  it("returns what was put from bytes, a web stream and a stream of Node, in whole and in part", () =>
    withStore(async (blobs) => {
      const sources = {
        bytes,
        web: new Blob([bytes.slice()]).stream(),
        node: Readable.from([bytes, bytes.slice(0, 1)])
      }
      for (const [key, source] of Object.entries(sources)) {
        const blob = await blobs.put(key, source, options)
        assert.deepInclude(blob, { key, contentType: "video/mp4", bytes: key === "node" ? 700_001 : 700_000 })
        assert.deepStrictEqual(await blobs.head(key), { key, bytes: blob.bytes })
        const whole = await read(await blobs.get(key))
        assert.isTrue(Buffer.from(bytes).equals(whole.subarray(0, 700_000)))
        const range = { start: 300_000, end: 600_000 }
        assert.isTrue(Buffer.from(bytes.subarray(300_000, 600_001)).equals(await read(await blobs.get(key, { range }))))
      }
      await blobs.delete(["bytes", "absent"])
      assert.instanceOf(await refusal(blobs.head("bytes")), BlobNotFoundError)
    }))

  it("throws a typed error for each reason", () =>
    withStore(async (blobs) => {
      const missing = await refusal(blobs.get("absent"))
      assert.instanceOf(missing, BlobNotFoundError)
      assert.deepInclude(missing, { code: "blob_not_found", key: "absent" })
      const tooLarge = await refusal(blobs.put("large", bytes, { ...options, bytesMax: 10 }))
      assert.instanceOf(tooLarge, TooLargeError)
      assert.deepInclude(tooLarge, { code: "too_large", bytesMax: 10 })
      assert.instanceOf(await refusal(blobs.put("../etc", bytes, options)), InvalidKeyError)
      await blobs.put("short", bytes.subarray(0, 10), options)
      const beyond = await refusal(blobs.get("short", { range: { start: 0, end: 10 } }))
      assert.instanceOf(beyond, OutOfRangeError)
      assert.deepInclude(beyond, { code: "out_of_range", bytes: 10 })
    }))

  it("cancels the source of an aborted put", () =>
    withStore(async (blobs) => {
      const controller = new AbortController()
      const cancelled = Promise.withResolvers<void>()
      const source = new ReadableStream<Uint8Array>({
        pull: () => new Promise(() => controller.abort(new Error("the request ended"))),
        cancel: () => cancelled.resolve()
      }, { highWaterMark: 0 })
      const put = blobs.put("aborted", source, { ...options, signal: controller.signal })
      assert.match(String(await refusal(put)), /^Error: the request ended/)
      await cancelled.promise
    }))

  it("leaves the key unchanged if the source fails or the signal aborts, and rejects with the same reason", () =>
    withStore(async (blobs) => {
      await blobs.put("kept", bytes.subarray(0, 10), options)
      const failing = async function*() {
        yield bytes.subarray(0, 5)
        throw new Error("the upload ended")
      }
      assert.match(String(await refusal(blobs.put("kept", failing(), options))), /^Error: the upload ended/)
      const controller = new AbortController()
      const hanging = async function*() {
        yield bytes.subarray(0, 5)
        controller.abort(new Error("the request ended"))
        await new Promise(() => {})
      }
      const aborted = blobs.put("kept", hanging(), { ...options, signal: controller.signal })
      assert.match(String(await refusal(aborted)), /^Error: the request ended/)
      assert.strictEqual((await blobs.head("kept")).bytes, 10)
    }))

  it("reads a blob only when its reader does, and stops with the reader", () =>
    withStore(async (blobs) => {
      await blobs.put("deleted", bytes, options)
      const unread = await blobs.get("deleted")
      await blobs.head("deleted")
      await blobs.delete(["deleted"])
      assert.instanceOf(await refusal(read(unread)), BlobNotFoundError)
      await blobs.put("cancelled", bytes, options)
      const reader = (await blobs.get("cancelled")).getReader()
      const first = await reader.read()
      assert.isAbove(first.value?.length ?? 0, 0)
      await reader.cancel()
      assert.isTrue((await reader.read()).done)
    }))
})

it("rejects a directory that cannot be created", () =>
  inDirectory(async (directory) => {
    writeFileSync(path.join(directory, "file"), "")
    const error = await refusal(createBlobStore({ directory: path.join(directory, "file") }))
    assert.instanceOf(error, UnavailableError)
    assert.deepInclude(error, { code: "unavailable" })
    assert.instanceOf(error.cause, Error)
    assert.deepStrictEqual(readdirSync(directory), ["file"])
  }))

it("signs links that are valid until they expire", () => {
  const signer = createUrlSigner({
    keys: ["a new secret of at least thirty-two bytes", "an old secret of thirty-two bytes or so"]
  })
  const older = createUrlSigner({ keys: ["an old secret of thirty-two bytes or so"] })
  const expiresAt = new Date("2026-11-01T12:00:00Z")
  const link = older.sign("/results/1", expiresAt)
  assert.strictEqual(signer.verify("/results/1", link, new Date("2026-11-01T11:59:59Z")), "Valid")
  assert.strictEqual(signer.verify("/results/1", link, expiresAt), "Expired")
  assert.strictEqual(older.verify("/results/1", signer.sign("/results/1", expiresAt), expiresAt), "Wrong")
  assert.throws(() => createUrlSigner({ keys: ["short"] }), /at least 32 bytes/)
})

it("rejects input of programs without types that has the wrong types", async () => {
  await using blobs = await createBlobStore({ memory: true })
  const wrong = [
    ["head", undefined, "the argument of head"],
    ["delete", "a", "the argument of delete"]
  ] as const
  for (const [method, input, what] of wrong) {
    const error = await Reflect.apply(Reflect.get(blobs, method), blobs, [input]).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.instanceOf(error, TypeError)
    assert.include(String(error), `Expected ${what} to be`)
  }
})
