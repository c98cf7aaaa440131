/** Files that are open for readers, and for a short time after their last one. */
import { Clock, Duration, Effect, Latch } from "effect"
import type { BlobError } from "../BlobError.ts"
import { closeDescriptor, openDescriptor, sizeOf } from "./fileCalls.ts"

/** The file of a blob. */
export interface BlobFile {
  readonly key: string
  readonly path: string
}

/** An open file. */
export interface OpenFile {
  readonly path: string
  readonly descriptor: number
  /** When it was opened, by the monotonic clock, in milliseconds. */
  readonly openedAt: number
  /** The number of readers. */
  readers: number
  /** The size, once it was read. A blob is replaced and never changed. */
  size: number | undefined
}

/** See `makeOpenFiles`. */
export type OpenFiles = Effect.Success<ReturnType<typeof makeOpenFiles>>

/**
 * Makes a set of open files. For `lasts` after a file was opened, further readers share it, so that one range after the other
 * does not open it again. Then it closes when its last reader is done. A file that was deleted or replaced by another process
 * is read for that time at most. At most `filesMax` files are shared; further ones are opened for their reader alone.
 */
export const makeOpenFiles = Effect.fnUntraced(function*(lasts: Duration.Duration, filesMax: number) {
  const clock = yield* Clock.Clock
  const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  const lastsMillis = Duration.toMillis(lasts)
  /** The shared files by path. */
  const files = new Map<string, OpenFile>()
  const hasFiles = Latch.makeUnsafe(false)
  /** How often a file was deleted or replaced. */
  let changes = 0

  /** Stops sharing files. Closes those without readers. */
  const drop = (dropped: ReadonlyArray<OpenFile>): Effect.Effect<void> => {
    for (const file of dropped) if (files.get(file.path) === file) files.delete(file.path)
    if (files.size === 0) hasFiles.closeUnsafe()
    return closeUnused(dropped)
  }
  const dropExpired = Effect.suspend(() => {
    const oldest = now() - lastsMillis
    return drop(Array.from(files.values()).filter(({ openedAt }) => openedAt <= oldest))
  })
  let isClosed = false
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosed = true
      return drop(Array.from(files.values()))
    })
  )
  yield* Effect.forkScoped(Effect.forever(afterTime(hasFiles, lasts, dropExpired)))

  /** Opens a file for one reader, who releases it. Must not be interrupted. */
  const acquire = ({ key, path }: BlobFile): Effect.Effect<OpenFile, BlobError> =>
    Effect.suspend(() => {
      const known = files.get(path)
      if (known !== undefined && known.openedAt > now() - lastsMillis) {
        known.readers++
        return Effect.succeed(known)
      }
      const openedAt = now()
      const changesBefore = changes
      return Effect.map(openDescriptor(path, key), (descriptor) => {
        const file: OpenFile = { path, descriptor, openedAt, readers: 1, size: undefined }
        // It may be one that was deleted or replaced meanwhile.
        const isCurrent = changes === changesBefore
        if (isCurrent && lastsMillis > 0 && !isClosed && files.size < filesMax && !files.has(path)) {
          files.set(path, file)
          hasFiles.openUnsafe()
        }
        return file
      })
    })

  const release = (file: OpenFile): Effect.Effect<void> =>
    Effect.suspend(() => {
      file.readers--
      const isShared = files.get(file.path) === file && file.openedAt > now() - lastsMillis
      return file.readers > 0 || isShared ? Effect.void : drop([file])
    })

  /** Stops sharing the file of a path, after it was deleted or replaced. */
  const forget = (path: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      changes++
      const file = files.get(path)
      return file === undefined ? Effect.void : drop([file])
    })

  return { acquire, release, forget, size }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const size = (file: OpenFile): Effect.Effect<number, BlobError> =>
  file.size !== undefined
    ? Effect.succeed(file.size)
    : Effect.map(sizeOf(file.descriptor), (size) => file.size = size)

/** Runs an effect when this time has passed since the latch was open. */
const afterTime = (latch: Latch.Latch, time: Duration.Duration, effect: Effect.Effect<void>): Effect.Effect<void> =>
  latch.await.pipe(Effect.andThen(Effect.sleep(time)), Effect.andThen(Effect.uninterruptible(effect)))

/** Closes those files that have no readers. */
const closeUnused = (files: ReadonlyArray<OpenFile>): Effect.Effect<void> =>
  Effect.forEach(files.filter(({ readers }) => readers === 0), ({ descriptor }) => closeDescriptor(descriptor), {
    discard: true
  })
