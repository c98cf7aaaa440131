/**
 * Bounds the time for which callers of a `BlobStore` wait, whatever the store does.
 *
 * A call of the file system cannot be interrupted. On a network file system whose server
 * does not respond it returns never, so a plain timeout would wait for it, too. Calls
 * run in fibers of their own here, and a call that exceeds its time is abandoned.
 */
import { Clock, Duration, Effect, Fiber, Layer, Scope, Stream } from "effect"
import { BlobError, Unavailable } from "./BlobError.ts"
import { BlobStore } from "./BlobStore.ts"

/** Options for `layer` and `make`. */
export interface ResponsiveOptions {
  /**
   * Time without progress after which an operation fails with `Unavailable`. Of `put`, the
   * time between two chunks that the store takes, without the time in which its source
   * produces them; of `get`, the time for a chunk; of `head` and `delete`, all of it.
   * Default 30 seconds.
   */
  readonly silenceMax?: Duration.Input | undefined
}

/** Provides the `BlobStore` that it requires, with a time limit for every operation. */
export const layer = (options: ResponsiveOptions = {}): Layer.Layer<BlobStore, never, BlobStore> =>
  Layer.effect(BlobStore, BlobStore.use((store) => Effect.succeed(make(store, options))))

/**
 * Returns the store with a time limit for every operation. An interrupted operation waits
 * until the store has released what it uses, at most twice `silenceMax`.
 *
 * A put that exceeded its time is interrupted. If its last step is in progress, it can
 * still replace the blob when the store responds again.
 */
export const make = (
  store: BlobStore["Service"],
  { silenceMax = "30 seconds" }: ResponsiveOptions = {}
): BlobStore["Service"] => {
  const limit = Duration.fromInputUnsafe(silenceMax)
  const within = <A, E, R>(operation: string, use: (watch: Watch) => Effect.Effect<A, E, R>) =>
    Effect.scopedWith((scope) => Effect.flatMap(Scope.provide(makeWatch(operation, limit), scope), use))

  return BlobStore.of({
    put: (key, stream, options) =>
      within("put", (watch) =>
        watch.run(store.put(
          key,
          Stream.transformPull(stream, (pull) =>
            Effect.succeed(Effect.onExit(
              Effect.suspend(() => {
                watch.pause()
                return pull
              }),
              () => Effect.sync(watch.resume)
            ))),
          options
        ))),

    get: (key, range) =>
      Stream.scoped(Stream.fromPull(Effect.gen(function*() {
        const watch = yield* makeWatch("get", limit)
        const scope = yield* Effect.acquireRelease(
          Scope.make(),
          (scope, exit) => Effect.ignore(watch.run(Scope.close(scope, exit)))
        )
        const pull = yield* watch.run(Scope.provide(Stream.toPull(store.get(key, range)), scope))
        return watch.run(pull)
      }))),

    head: (key) => within("head", ({ run }) => run(store.head(key))),

    delete: (keys) => within("delete", ({ run }) => run(store.delete(keys)))
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The time limit of one operation. */
interface Watch {
  /** Runs the effect, or fails when the store has made no progress for the limit. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | BlobError, R>
  /** Stops the time: the operation waits for its caller. */
  readonly pause: () => void
  /** Starts the time anew: the operation waits for the store. */
  readonly resume: () => void
}

/** Makes a watch with one timer for all effects that it runs one after the other, since a read runs one per chunk. */
const makeWatch = Effect.fnUntraced(function*(operation: string, limit: Duration.Duration) {
  const clock = yield* Clock.Clock
  /** When the store began to work; `undefined` while it waits for the caller. */
  let since: number | undefined
  let abandon: (error: BlobError) => void = () => {}
  const pause = () => {
    since = undefined
  }
  const resume = () => {
    since = clock.currentTimeMillisUnsafe()
  }

  const limitMillis = Duration.toMillis(limit)
  const left = () => since === undefined ? limitMillis : since + limitMillis - clock.currentTimeMillisUnsafe()
  const observe = Effect.gen(function*() {
    for (;;) {
      yield* Effect.sleep(left())
      if (left() > 0) continue
      pause()
      const cause = new Error(`The storage has not responded for ${Duration.format(limit)}`)
      abandon(new BlobError({ reason: new Unavailable({ operation: `BlobStore.${operation}`, cause }) }))
    }
  })
  yield* Effect.forkScoped(observe, { startImmediately: true })

  const waitFor = <A, E>(fiber: Fiber.Fiber<A, E>) =>
    Effect.callback<A, E | BlobError>((done) => {
      const ignore = fiber.addObserver((exit) => {
        pause()
        done(exit)
      })
      abandon = (error) => {
        ignore()
        fiber.interruptUnsafe()
        done(Effect.fail(error))
      }
      return Effect.suspend(() => {
        fiber.interruptUnsafe()
        return Effect.raceFirst(Fiber.await(fiber), Effect.sleep(limit))
      })
    })

  const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) => {
      resume()
      const forked = Effect.forkDetach(effect, { startImmediately: true, uninterruptible: false })
      return Effect.flatMap(forked, (fiber) => restore(waitFor(fiber)))
    })

  const watch: Watch = { run, pause, resume }
  return watch
})
