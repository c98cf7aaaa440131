/** Whether the files of results can be stored, so that a worker with a full disk takes no jobs. */
import { BlobError } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Duration, Effect, Latch, Schedule, Stream } from "effect"

/** Options for `makeResultStorage`. */
export interface ResultStorageOptions {
  /** Time from a failed write to the first test of the storage. Doubles with each failure. Default 1 second. */
  readonly storagePauseMin?: Duration.Input | undefined
  /** Maximum time between two tests. Default 1 minute. */
  readonly storagePauseMax?: Duration.Input | undefined
}

/** The file storage of a worker. */
interface ResultStorage {
  /** The store for the files of results. A write that fails because the store is unavailable pauses the storage. */
  readonly blobs: BlobStore["Service"]
  /** Returns `false` while the storage is paused. */
  readonly isWorking: Effect.Effect<boolean>
  /** Records that a job has stored all its files. */
  readonly recovered: Effect.Effect<void>
}

/** Makes the storage, which is tested until the scope closes. */
export const makeResultStorage = Effect.fnUntraced(
  function*({ storagePauseMax = "1 minute", storagePauseMin = "1 second" }: ResultStorageOptions) {
    const blobs = yield* BlobStore
    const pauseMin = Duration.fromInputUnsafe(storagePauseMin)
    const pauseMax = Duration.fromInputUnsafe(storagePauseMax)
    const paused = Latch.makeUnsafe(false)
    /** Open while a file of a test may exist. */
    const isTested = Latch.makeUnsafe(true)
    let isWorking = true
    /** Failures since a job stored all its files. A test writes less than a job, so it does not reset them. */
    let failures = 0

    const pause = Effect.suspend(() => {
      if (!isWorking) return Effect.void
      isWorking = false
      failures++
      paused.openUnsafe()
      return Effect.logWarning(
        "Results cannot be stored. The worker claims no jobs until a test of the storage succeeds"
      )
    })

    const resume = Effect.suspend(() => {
      isWorking = true
      paused.closeUnsafe()
      return Effect.logInfo("Results can be stored again")
    })

    const delay = Effect.suspend(() =>
      Effect.sleep(Duration.min(Duration.times(pauseMin, 2 ** Math.min(failures - 1, doublingsMax)), pauseMax))
    )

    const test = Effect.suspend(() => blobs.put(testKey, Stream.succeed(new Uint8Array(testBytes)), testFile)).pipe(
      Effect.onExit(() => isTested.open),
      Effect.matchEffect({
        onFailure: () =>
          Effect.sync(() => {
            failures++
          }),
        onSuccess: () => resume
      })
    )

    // No row refers to the file, so the sweep does not delete it. One of a crash may exist at the start.
    const deleteTest = Effect.suspend(() => {
      isTested.closeUnsafe()
      return Effect.retry(blobs.delete([testKey]), Schedule.spaced(pauseMax))
    })

    yield* Effect.forkScoped(Effect.forever(Effect.andThen(isTested.await, deleteTest)))
    yield* Effect.forkScoped(Effect.forever(paused.await.pipe(Effect.andThen(delay), Effect.andThen(test))))

    const storage: ResultStorage = {
      blobs: BlobStore.of({
        ...blobs,
        put: (key, stream, options) =>
          Effect.tapError(blobs.put(key, stream, options), (error) => isStorageFailure(error) ? pause : Effect.void)
      }),
      isWorking: Effect.sync(() => isWorking),
      recovered: Effect.sync(() => {
        failures = isWorking ? 0 : failures
      })
    }
    return storage
  }
)

/** Returns `true` if the file storage is unavailable: full, read-only or unreachable. */
export const isStorageFailure = (error: unknown): boolean =>
  error instanceof BlobError && error.reason._tag === "Unavailable"

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Larger than the space that a nearly full disk still has for a few small files. */
const testBytes = 2 ** 20
const testKey = "generations/storage-test"
const testFile = { contentType: "application/octet-stream", bytesMax: testBytes }

/** 2^16 times the first pause is longer than any maximum. */
const doublingsMax = 16
