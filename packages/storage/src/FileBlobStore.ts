/**
 * Stores blobs as files in one directory.
 *
 *     <directory>/blobs/7f/generations~gen_01k…~output.mp4
 *     <directory>/partial/<uuid>
 *
 * A put writes a partial file, syncs it, and renames it into place, so a blob is never
 * partly visible. Both directories must be on one file system, which the rename
 * requires. Any number of processes can share the directory.
 */
import { Channel, Clock, Duration, Effect, Layer, Stream } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises"
import * as path from "node:path"
import type { BlobError } from "./BlobError.ts"
import * as BlobKey from "./BlobKey.ts"
import { BlobStore } from "./BlobStore.ts"
import { attempt, close } from "./internal/fileCalls.ts"
import * as FileChunks from "./internal/fileChunks.ts"
import * as Meter from "./internal/Meter.ts"
import { makeOpenFiles } from "./internal/openFiles.ts"

/** Options for `layer`. */
export interface FileBlobStoreOptions {
  /** Directory of the store, created if it does not exist. It must not contain other files. */
  readonly directory: string
  /**
   * Age after which a partial file is considered left over from a crash. Such files are
   * removed when the layer is built, and at every `partialInterval`. Choose it longer than
   * any put waits for its next bytes, since other processes may write to the directory.
   * Default one day.
   */
  readonly partialAgeMax?: Duration.Input | undefined
  /** Time between two searches for partial files of crashes. Default one hour. */
  readonly partialInterval?: Duration.Input | undefined
  /**
   * Time for which a file that was opened for a reader stays open for further ones, for example for the next range.
   * If another process deletes or replaces the blob, readers can get the old one for that time. Default 0.
   */
  readonly keepOpen?: Duration.Input | undefined
}

/** Provides a `BlobStore` in a directory. Creates the directory, and removes partial files of crashes while the layer lives. */
export const layer = (options: FileBlobStoreOptions): Layer.Layer<BlobStore, BlobError> =>
  Layer.effect(BlobStore, make(options))

/** Creates a `BlobStore` in a directory, like `layer`. Removes partial files of crashes until the scope closes. */
export const make = Effect.fnUntraced(function*(options: FileBlobStoreOptions) {
  const { directory, keepOpen = 0, partialAgeMax = "1 day", partialInterval = "1 hour" } = options
  const files = yield* makeOpenFiles(Duration.fromInputUnsafe(keepOpen), openFilesMax)
  const places = makePlaces(directory)
  yield* prepare(places)
  yield* removeStale(places, partialAgeMax)
  const removeAgain = Effect.catch(
    removeStale(places, partialAgeMax),
    (error) => Effect.logWarning("Removing partial files of crashes failed, retrying after the interval", error)
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(partialInterval), removeAgain)))

  return BlobStore.of({
    put: Effect.fn("BlobStore.put")(function*(key, stream, putOptions) {
      yield* BlobKey.check(key)
      const meter = Meter.make(key, putOptions)
      const partial = yield* acquirePartial(places)
      yield* Stream.runForEach(stream, (chunk) =>
        Effect.suspend(() => {
          const refusal = meter.add(chunk)
          return refusal === undefined
            ? attempt("put", () => partial.handle.writeFile(chunk))
            : Effect.fail(refusal)
        }))
      const file = places.fileOf(key)
      yield* Effect.ensuring(publish(partial, file), files.forget(file))
      return meter.finish()
    }, Effect.scoped),

    get: (key, range, { allocate = newMemory } = {}) =>
      // In the scope of the channel, since one of its own needs more memory per reader.
      Stream.fromChannel(Channel.fromTransform((_, scope) =>
        Effect.andThen(
          BlobKey.check(key),
          Effect.suspend(() => {
            const file = { key, path: places.fileOf(key) }
            return FileChunks.read({ files, allocate }, file, range, scope)
          })
        )
      )),

    head: Effect.fn("BlobStore.head")(function*(key) {
      yield* BlobKey.check(key)
      const found = yield* attempt("head", () => stat(places.fileOf(key)), key)
      return { key, bytes: found.size }
    }),

    delete: Effect.fn("BlobStore.delete")(function*(keys) {
      yield* Effect.forEach(keys, BlobKey.check, { discard: true })
      const paths = keys.map(places.fileOf)
      const remove = (file: string) => attempt("delete", () => rm(file, { force: true }))
      yield* Effect.forEach(paths, (file) => Effect.ensuring(remove(file), files.forget(file)), fewAtATime)
      yield* Effect.forEach(
        new Set(paths.map((file) => path.dirname(file))),
        (directory) => syncDirectory("delete", directory),
        fewAtATime
      )
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const newMemory = (size: number): Uint8Array => Buffer.allocUnsafeSlow(size)

/** Files that are open at a time for further readers. */
const openFilesMax = 256

/** Four files at a time, since each occupies a thread of the pool of Node, which has four. */
const fewAtATime = { concurrency: 4, discard: true } as const

interface Places {
  readonly partials: string
  readonly fans: ReadonlyArray<string>
  readonly fileOf: (key: string) => string
}

/**
 * Files are distributed by hash over 256 directories, so that none grows too large. The
 * file name is the key with `~` for `/`, since no key contains `~`.
 */
const makePlaces = (directory: string): Places => {
  const fans = Array.from(
    { length: 256 },
    (_, index) => path.join(directory, "blobs", index.toString(16).padStart(2, "0"))
  )
  const fileOf = (key: string) => {
    const [fan] = createHash("sha256").update(key).digest()
    return path.join(fans[fan as number] as string, key.replaceAll("/", "~"))
  }
  // Ranges of one blob are often read one after the other.
  let last = { key: "", file: "" }
  return {
    partials: path.join(directory, "partial"),
    fans,
    fileOf: (key) => {
      if (last.key !== key) last = { key, file: fileOf(key) }
      return last.file
    }
  }
}

/** Creates all directories, so that a put never has to, and makes their names durable. */
const prepare = Effect.fnUntraced(function*({ fans, partials }: Places) {
  yield* Effect.forEach(
    [partials, ...fans],
    (directory) => attempt("make", () => mkdir(directory, { recursive: true, mode: 0o700 })),
    fewAtATime
  )
  const blobs = path.dirname(fans[0] as string)
  for (const directory of [blobs, path.dirname(blobs)]) yield* syncDirectory("make", directory)
})

/** Removes the partial files that are older than `ageMax`. A file that cannot be removed does not stop the others. */
const removeStale = Effect.fnUntraced(function*({ partials }: Places, ageMax: Duration.Input) {
  const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(ageMax)
  const names = yield* attempt("make", () => readdir(partials))
  yield* Effect.forEach(names, (name) =>
    Effect.gen(function*() {
      const file = path.join(partials, name)
      const { mtimeMs } = yield* attempt("make", () => stat(file), name)
      if (mtimeMs < oldest) yield* attempt("make", () => rm(file, { force: true }))
    }).pipe(
      // Another process has removed or published the file meanwhile.
      Effect.catchReason("BlobError", "NotFound", () => Effect.void),
      Effect.catch((error) => Effect.logWarning("A partial file of a crash cannot be removed", { name }, error))
    ), fewAtATime)
})

interface PartialFile {
  readonly file: string
  readonly handle: FileHandle
}

/** Creates a partial file that is closed and removed with the scope. Closing waits for a running write. */
const acquirePartial = ({ partials }: Places) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const file = path.join(partials, randomUUID())
      return Effect.map(attempt("put", () => open(file, "wx", 0o600)), (handle): PartialFile => ({ file, handle }))
    }),
    // A file that cannot be removed now is removed later, by its age.
    ({ file, handle }) => Effect.andThen(close(handle), Effect.ignore(attempt("put", () => rm(file, { force: true }))))
  )

/**
 * Syncs the bytes before the name, so that a name that survives a loss of power has all its bytes. A put that is
 * interrupted while it syncs the bytes publishes nothing.
 */
const publish = Effect.fnUntraced(function*({ file, handle }: PartialFile, target: string) {
  yield* attempt("put", () => handle.sync())
  yield* Effect.uninterruptible(Effect.andThen(
    attempt("put", () => rename(file, target)),
    syncDirectory("put", path.dirname(target))
  ))
})

const syncDirectory = (operation: string, directory: string) =>
  Effect.acquireUseRelease(
    attempt(operation, () => open(directory, "r")),
    (handle) => attempt(operation, () => handle.sync()),
    close
  )
