/** The use-cases that wait for a generation to change: until it is final, or state by state. */
import { Clock, Duration, Effect, Stream } from "effect"
import { Changes } from "../../Changes.ts"
import { type Generation, isFinal, type Status } from "../../Generation.ts"
import type { Reads } from "./reads.ts"

/** Options for `makeWatch`. */
export interface WatchOptions extends Pick<Reads, "get"> {
  /** How long to wait before the generation is read again while the changes of other processes do not arrive. */
  readonly pollInterval: Duration.Duration
}

/** How long to wait before the generation is read again while changes arrive, since the notification of one can be lost. */
const connectedInterval = Duration.seconds(10)

/** Makes the use-cases `wait` and `changes`. */
export const makeWatch = Effect.fnUntraced(function*({ get, pollInterval }: WatchOptions) {
  const { disconnected, watch } = yield* Changes
  const longest = Duration.max(connectedInterval, pollInterval)

  /** Waits until the generation should be read again. Returns `false` after the end of the watch. */
  const untilRead = (changed: Effect.Effect<boolean>, limit: Duration.Duration) => {
    const polled = Effect.sleep(Duration.min(limit, longest))
    // From the loss of the connection on, so that a call which waits already reads soon too.
    const polledApart = Effect.andThen(disconnected, Effect.sleep(Duration.min(limit, pollInterval)))
    return Effect.raceAllFirst([changed, Effect.as(polled, true), Effect.as(polledApart, true)])
  }

  const wait = Effect.fn("Generations.wait")(
    function*(account: string, text: string, timeout: Duration.Input) {
      const first = yield* get(account, text)
      if (isFinal(first.status)) return first
      const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout)
      const changed = yield* watch(first.id)
      while (true) {
        // Read after `watch`, so that a change in between is seen by this read or completes `changed`.
        const generation = yield* get(account, text)
        const left = deadline - (yield* Clock.currentTimeMillis)
        if (isFinal(generation.status) || left <= 0) return generation
        if (!(yield* untilRead(changed, Duration.millis(left)))) return generation
      }
    },
    Effect.scoped
  )

  const changes = (account: string, text: string) =>
    Stream.unwrap(Effect.gen(function*() {
      const { id } = yield* get(account, text)
      const changed = yield* watch(id)
      const next = makeNext(get(account, id), untilRead(changed, Duration.infinity))
      return Stream.unfold(undefined as Status | undefined, next)
    }))

  return { wait, changes }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes a function that returns the first state other than `last`, or `undefined` once none will follow. */
const makeNext = <E>(
  read: Effect.Effect<Generation, E>,
  untilRead: Effect.Effect<boolean>
) =>
  Effect.fnUntraced(function*(last: Status | undefined) {
    if (last !== undefined && isFinal(last)) return undefined
    while (true) {
      const generation = yield* read
      if (generation.status !== last) return [generation, generation.status] as const
      if (!(yield* untilRead)) return undefined
    }
  })
