/** The use-cases that wait for a generation to change: until it is final, or state by state. */
import { Clock, Duration, Effect, Option, Stream } from "effect"
import { Changes } from "../../Changes.ts"
import { type Generation, isFinal, type Status } from "../../Generation.ts"
import type { Reads } from "./reads.ts"

/** Options for `makeWatch`. */
export interface WatchOptions extends Pick<Reads, "get"> {
  /** How long to wait for a notification before the generation is read again without one. */
  readonly pollInterval: Duration.Duration
}

/** Makes the use-cases `wait` and `changes`. */
export const makeWatch = Effect.fnUntraced(function*({ get, pollInterval }: WatchOptions) {
  const { watch } = yield* Changes

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
        const goesOn = yield* Effect.timeoutOption(changed, Duration.min(Duration.millis(left), pollInterval))
        if (Option.contains(goesOn, false)) return generation
      }
    },
    Effect.scoped
  )

  const changes = (account: string, text: string) =>
    Stream.unwrap(Effect.gen(function*() {
      const { id } = yield* get(account, text)
      const changed = yield* watch(id)
      const next = makeNext(get(account, id), changed, pollInterval)
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
  changed: Effect.Effect<boolean>,
  pollInterval: Duration.Duration
) =>
  Effect.fnUntraced(function*(last: Status | undefined) {
    if (last !== undefined && isFinal(last)) return undefined
    while (true) {
      const generation = yield* read
      if (generation.status !== last) return [generation, generation.status] as const
      const goesOn = yield* Effect.timeoutOption(changed, pollInterval)
      if (Option.contains(goesOn, false)) return undefined
    }
  })
