/**
 * Bounds the time for which callers of a `BlobStore` wait, whatever the store does.
 *
 * A call of the file system cannot be interrupted. On a network file system whose server
 * does not respond it returns never, so a plain timeout would wait for it, too. Calls
 * run in fibers of their own here, and a call that exceeds its time is abandoned.
 */
import { Channel, Duration, Effect, Layer, type Pull, Scope, Stream } from "effect"
import type { BlobError } from "./BlobError.ts"
import { BlobStore } from "./BlobStore.ts"
import * as Silence from "./internal/silence.ts"

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
  Layer.effect(BlobStore, BlobStore.use((store) => make(store, options)))

/**
 * Makes the store with a time limit for every operation. Its timer runs until the scope closes. An interrupted operation
 * waits until the store has released what it uses, at most twice `silenceMax`.
 *
 * A put that exceeded its time is interrupted. If its last step is in progress, it can
 * still replace the blob when the store responds again.
 */
export const make = Effect.fnUntraced(function*(
  store: BlobStore["Service"],
  { silenceMax = "30 seconds" }: ResponsiveOptions = {}
) {
  const makeWatch = yield* Silence.make(Duration.fromInputUnsafe(silenceMax))

  return BlobStore.of({
    put: (key, stream, options) =>
      Effect.suspend(() => {
        const watch = makeWatch("put")
        const watched = Stream.transformPull(stream, (pull) =>
          Effect.succeed(Effect.onExit(
            Effect.suspend(() => {
              watch.pause()
              return pull
            }),
            () => Effect.sync(watch.resume)
          )))
        return watch.run(store.put(key, watched, options))
      }),

    get: (key, range, options) =>
      // In the scope of the channel, since one of its own needs more memory per reader.
      Stream.fromChannel(Channel.fromTransform((_, readerScope) =>
        Effect.sync(() => readWatched(makeWatch("get"), store.get(key, range, options), readerScope))
      )),

    head: (key) => Effect.suspend(() => makeWatch("head").run(store.head(key))),

    delete: (keys) => Effect.suspend(() => makeWatch("delete").run(store.delete(keys)))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Pulled<A> = Pull.Pull<readonly [A, ...Array<A>], BlobError>

/** Returns a pull of the stream that fails when the store makes no progress. Each fiber that waits for the store costs time. */
const readWatched = <A>(
  watch: Silence.Watch,
  stream: Stream.Stream<A, BlobError>,
  readerScope: Scope.Scope
): Pulled<A> => {
  let next: Pulled<A> | undefined
  const open = Effect.suspend(() => {
    const scope = Scope.makeUnsafe()
    return Effect.andThen(
      Scope.addFinalizerExit(readerScope, (exit) => {
        const closing = Scope.closeUnsafe(scope, exit)
        return closing === undefined ? Effect.void : Effect.ignore(watch.run(closing))
      }),
      watch.run(Effect.flatMap(Scope.provide(Stream.toPull(stream), scope), (pull) => {
        next = pull
        return pull
      }))
    )
  })
  return Effect.suspend(() => next === undefined ? open : watch.run(next))
}
