import { assert, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import {
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  watch,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { BlobStore, chunkBytesMax } from "../src/BlobStore.ts"
import * as FileBlobStore from "../src/FileBlobStore.ts"
import { bytesOf, collect, streamOf } from "../src/internal/contract/bytes.ts"
import { suite } from "../src/testing.ts"
import { chunkSuite } from "./chunkSuite.ts"

/** Creates a directory that is removed with the scope. */
const makeDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "blobs-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const inNewDirectory = Layer.unwrap(Effect.map(makeDirectory, (directory) => FileBlobStore.layer({ directory })))

suite("files", inNewDirectory)
chunkSuite("files", inNewDirectory)

const options = { bytesMax: 1024 ** 3, contentType: "video/mp4" }

const partials = (directory: string) => readdirSync(path.join(directory, "partial"))

/** Returns the file of the only blob in the directory. */
const onlyBlob = (directory: string) => {
  const files = readdirSync(path.join(directory, "blobs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
  assert.strictEqual(files.length, 1)
  return path.join(files[0]!.parentPath, files[0]!.name)
}

/** Returns how many descriptors of this process are open on the file. */
const handlesOn = (file: string) => handlesOf(file)()

/** Returns a function that counts the descriptors of this process on a file, also after its name was removed. */
const handlesOf = (file: string) => {
  const { dev, ino } = statSync(file)
  return () =>
    readdirSync("/dev/fd").filter((fd) => {
      try {
        const found = fstatSync(Number(fd))
        return found.dev === dev && found.ino === ino
      } catch {
        // The descriptor that listed the directory is closed by now.
        return false
      }
    }).length
}

/** Waits until a background fiber has closed all of them. */
const awaitClosed = (handles: () => number) =>
  Effect.repeat(
    Effect.andThen(Effect.promise(() => new Promise<void>((done) => void setImmediate(done))), Effect.sync(handles)),
    {
      until: (count) => count === 0
    }
  )

it.effect("streams 256 MiB in and out in a fraction of that memory", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const { get, put } = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    const size = 256 * 1024 ** 2
    const expected = createHash("sha256")
    const before = process.memoryUsage.rss()
    let most = before
    const source = Stream.range(1, size / 65_536).pipe(
      Stream.rechunk(1),
      Stream.map((index) => {
        const chunk = Buffer.alloc(65_536, index)
        expected.update(chunk)
        most = Math.max(most, process.memoryUsage.rss())
        return chunk
      })
    )
    const blob = yield* put("big", source, options)
    assert.deepInclude(blob, { bytes: size, sha256: expected.digest("hex") })
    const found = createHash("sha256")
    yield* Stream.runForEach(get("big"), (chunk) =>
      Effect.sync(() => {
        found.update(chunk)
        most = Math.max(most, process.memoryUsage.rss())
      }))
    assert.strictEqual(found.digest("hex"), blob.sha256)
    assert.isBelow(most - before, size / 2)
  }))

it.effect("closes its file when the reader ends, stops early or is interrupted", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const { get, put } = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    yield* put("read", streamOf(bytesOf(3 * 64 * 1024), 100_000), options)
    const file = onlyBlob(directory)

    const seen: Array<number> = []
    yield* Stream.runForEach(get("read"), () => Effect.sync(() => void seen.push(handlesOn(file))))
    assert.deepStrictEqual(seen, [1, 1, 1])
    assert.strictEqual(handlesOn(file), 0)

    // A range of one chunk is closed before the reader has it.
    yield* Stream.runForEach(
      get("read", { start: 5, end: 99 }),
      () => Effect.sync(() => void seen.push(handlesOn(file)))
    )
    assert.deepStrictEqual(seen, [1, 1, 1, 0])

    yield* Stream.runDrain(Stream.take(get("read"), 1))
    assert.strictEqual(handlesOn(file), 0)

    yield* Effect.flip(Stream.runForEach(get("read"), () => Effect.fail("reader")))
    assert.strictEqual(handlesOn(file), 0)

    const reading = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkChild(
      Stream.runForEach(get("read"), () => Effect.andThen(Deferred.succeed(reading, undefined), Effect.never))
    )
    yield* Deferred.await(reading)
    assert.strictEqual(handlesOn(file), 1)
    yield* Fiber.interrupt(fiber)
    assert.strictEqual(handlesOn(file), 0)

    yield* Effect.flip(collect(get("read", { start: 0, end: 10 ** 9 })))
    assert.strictEqual(handlesOn(file), 0)
  }))

it.effect("keeps a file open for further readers for the time of keepOpen, until it is put again, deleted or the store closes", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const scope = yield* Scope.make()
    const layer = FileBlobStore.layer({ directory, keepOpen: "1 second" })
    const store = Context.get(yield* Scope.provide(Layer.build(layer), scope), BlobStore)
    const { get, put } = store
    const range = { start: 5, end: 99 }
    yield* put("kept", streamOf(bytesOf(300_000)), options)
    const handles = handlesOf(onlyBlob(directory))
    assert.deepStrictEqual(yield* collect(get("kept", range)), bytesOf(300_000).slice(5, 100))
    assert.strictEqual(handles(), 1)
    yield* collect(get("kept", range))
    yield* collect(get("kept"))
    assert.strictEqual(handles(), 1)
    yield* TestClock.adjust("1 second")
    yield* awaitClosed(handles)

    // A reader that is not done keeps a file open that nobody shares any more.
    const reading = yield* Effect.scoped(Effect.gen(function*() {
      const pull = yield* Stream.toPull(get("kept"))
      yield* pull
      yield* TestClock.adjust("2 seconds")
      return handles()
    }))
    assert.strictEqual(reading, 1)
    assert.strictEqual(handles(), 0)

    yield* collect(get("kept", range))
    yield* put("kept", streamOf(bytesOf(200)), options)
    assert.strictEqual(handles(), 0)
    assert.deepStrictEqual(yield* collect(get("kept", { start: 100, end: 199 })), bytesOf(200).slice(100))

    const next = handlesOf(onlyBlob(directory))
    assert.strictEqual(next(), 1)
    yield* store.delete(["kept"])
    assert.strictEqual(next(), 0)
    yield* Effect.flip(collect(get("kept", range)))

    yield* put("last", streamOf(bytesOf(200)), options)
    const last = handlesOf(onlyBlob(directory))
    yield* collect(get("last", range))
    assert.strictEqual(last(), 1)
    yield* Scope.close(scope, Exit.void)
    assert.strictEqual(last(), 0)
  }))

it.effect("reads into the memory of the reader", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const { get, put } = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    const bytes = bytesOf(9 * 1024 ** 2)
    yield* put("own", streamOf(bytes, 1024 ** 2), options)
    const memory = new Uint8Array(chunkBytesMax)
    for (const range of [{ start: 7, end: 50_000 }, { start: 7, end: bytes.length - 1 }]) {
      const parts: Array<Uint8Array> = []
      yield* Stream.runForEach(get("own", range, { allocate: () => memory }), (chunk) =>
        Effect.sync(() => {
          assert.strictEqual(chunk.buffer, memory.buffer)
          parts.push(chunk.slice())
        }))
      assert.deepStrictEqual(Buffer.concat(parts), Buffer.from(bytes.slice(range.start, range.end + 1)))
    }
  }))

it.effect("removes the partial file, however a put ends", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const { put } = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    const bytes = streamOf(bytesOf(10_000))
    yield* put("kept", bytes, options)
    yield* Effect.flip(put("too-large", bytes, { ...options, bytesMax: 9_999 }))
    yield* Effect.flip(put("failed", Stream.concat(bytes, Stream.fail("cut off")), options))
    yield* Effect.exit(put("died", Stream.concat(bytes, Stream.die("bug")), options))
    const writing = yield* Deferred.make<void>()
    const stalled = Stream.concat(bytes, Stream.fromEffectDrain(Deferred.succeed(writing, undefined)))
    const fiber = yield* Effect.forkChild(put("interrupted", Stream.concat(stalled, Stream.never), options))
    yield* Deferred.await(writing)
    assert.strictEqual(partials(directory).length, 1)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(partials(directory), [])
    assert.strictEqual(path.basename(onlyBlob(directory)), "kept")
  }))

it.live("shows nothing of a put whose process was killed, and removes its partial file later", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const child = spawn(process.execPath, [
      "--conditions=@kinora/source",
      fileURLToPath(new URL("crash.ts", import.meta.url)),
      directory
    ])
    const [, signal] = yield* Effect.promise(() => once(child, "exit"))
    assert.strictEqual(signal, "SIGKILL")
    assert.strictEqual(partials(directory).length, 1)
    const { head } = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    assert.strictEqual((yield* Effect.flip(head("crashed"))).reason._tag, "NotFound")
    assert.strictEqual(partials(directory).length, 1)
    yield* Effect.void.pipe(Effect.provide(FileBlobStore.layer({ directory, partialAgeMax: "-1 minute" })))
    assert.deepStrictEqual(partials(directory), [])
  }))

it.effect("removes partial files without a write for a day, and no others", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const layer = FileBlobStore.layer({ directory })
    yield* Effect.void.pipe(Effect.provide(layer))
    const day = 24 * 60 * 60
    for (const [name, writtenAt] of [["old", 999], ["young", 1_000]] as const) {
      const file = path.join(directory, "partial", name)
      writeFileSync(file, "bytes")
      utimesSync(file, writtenAt, writtenAt)
    }
    yield* TestClock.setTime((1_000 + day) * 1_000)
    yield* Effect.void.pipe(Effect.provide(layer))
    assert.deepStrictEqual(partials(directory), ["young"])
  }))

it.effect("removes partial files while it runs, also if one of them cannot be removed", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    yield* TestClock.setTime(10 * 60_000)
    yield* Layer.build(FileBlobStore.layer({ directory, partialAgeMax: "10 minutes", partialInterval: "1 minute" }))
    const folder = path.join(directory, "partial")
    const removed = yield* Deferred.make<void>()
    for (const [name, writtenAt] of [["a", 0], ["b", 0], ["c", 0], ["d", 0], ["old", 0], ["young", 61]] as const) {
      const file = path.join(folder, name)
      // A directory cannot be removed like a file.
      if (name === "a") mkdirSync(file)
      else writeFileSync(file, "bytes")
      utimesSync(file, writtenAt, writtenAt)
    }
    const watcher = watch(folder, () => {
      if (partials(directory).length === 2) Deferred.doneUnsafe(removed, Effect.void)
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => watcher.close()))
    yield* TestClock.adjust("59 seconds")
    assert.strictEqual(partials(directory).length, 6)
    yield* TestClock.adjust("1 second")
    yield* Deferred.await(removed)
    assert.deepStrictEqual(partials(directory).toSorted(), ["a", "young"])
  }))

it.effect("shares a directory with other processes, and finds its blobs after a restart", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const one = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    const other = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    yield* one.put("shared", streamOf(bytesOf(100)), options)
    assert.deepStrictEqual(yield* collect(other.get("shared")), bytesOf(100))
    yield* other.delete(["shared"])
    assert.strictEqual((yield* Effect.flip(one.head("shared"))).reason._tag, "NotFound")
  }))

it.effect("emits nothing of a range if the file was truncated before", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const { get, put } = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    yield* put("cut", streamOf(bytesOf(1_000)), options)
    truncateSync(onlyBlob(directory), 500)
    let read = 0
    const counted = Stream.runForEach(get("cut", { start: 0, end: 999 }), ({ length }) =>
      Effect.sync(() => read += length))
    const { reason } = yield* Effect.flip(counted)
    assert.deepInclude(reason, { _tag: "OutOfRange", bytes: 500 })
    assert.strictEqual(read, 0)
  }))

it.effect("fails with Unavailable when the directory cannot be used", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    const file = path.join(directory, "file")
    writeFileSync(file, "")
    const build = Effect.void.pipe(Effect.provide(FileBlobStore.layer({ directory: file })))
    assert.strictEqual((yield* Effect.flip(build)).reason._tag, "Unavailable")

    const { put } = yield* BlobStore.pipe(Effect.provide(FileBlobStore.layer({ directory })))
    rmSync(path.join(directory, "partial"), { recursive: true })
    const { message, reason } = yield* Effect.flip(put("lost", streamOf(bytesOf(10)), options))
    assert.deepInclude(reason, { _tag: "Unavailable", operation: "BlobStore.put" })
    assert.include(message, "BlobStore.put")
  }))
