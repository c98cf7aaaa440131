/** Waiting for a generation to change: until it is final, or state by state. */
import { Clock, Duration, Effect, Option, Stream } from "effect"
import type { Changes } from "../../Changes.ts"
import { type Generation, isFinal, type Status } from "../../Generation.ts"

/** What watching is built on. `E` is what reading fails with. */
export interface WatchingOptions<E> {
  readonly changes: Changes["Service"]
  /** The generation as it is now, if the account has it. */
  readonly get: (account: string, id: string) => Effect.Effect<Generation, E>
  /** How long to wait for a hint before looking without one. */
  readonly patience: Duration.Duration
}

/** Builds both ways of waiting. */
export const make = <E>({ changes, get, patience }: WatchingOptions<E>) => {
  const wait = Effect.fn("Generations.wait")(
    function*(account: string, text: string, timeout: Duration.Input) {
      const first = yield* get(account, text)
      if (isFinal(first.status)) return first
      const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout)
      const changed = yield* changes.watch(first.id)
      while (true) {
        // Read after watching: what changed in between is seen by one of the two.
        const generation = yield* get(account, text)
        const left = deadline - (yield* Clock.currentTimeMillis)
        if (isFinal(generation.status) || left <= 0) return generation
        const goOn = yield* Effect.timeoutOption(changed, Duration.min(Duration.millis(left), patience))
        if (Option.contains(goOn, false)) return generation
      }
    },
    Effect.scoped
  )

  /** The first state that is not `last`; nothing when there will be none, or waiting has ended. */
  const next = Effect.fnUntraced(function*(
    read: Effect.Effect<Generation, E>,
    changed: Effect.Effect<boolean>,
    last: Status | undefined
  ) {
    if (last !== undefined && isFinal(last)) return undefined
    while (true) {
      const generation = yield* read
      if (generation.status !== last) return [generation, generation.status] as const
      const goOn = yield* Effect.timeoutOption(changed, patience)
      if (Option.contains(goOn, false)) return undefined
    }
  })

  const changesOf = (account: string, text: string): Stream.Stream<Generation, E> =>
    Stream.unwrap(Effect.gen(function*() {
      const { id } = yield* get(account, text)
      const changed = yield* changes.watch(id)
      return Stream.unfold(undefined as Status | undefined, (last) => next(get(account, id), changed, last))
    }))

  return { wait, changes: changesOf }
}
