/** The use-case `Generations.accountChanges`: the changes of all generations of an account. */
import { Clock, DateTime, Duration, Effect, Option, Stream } from "effect"
import { type Generation, type GenerationId, isFinal, type Status } from "../../Generation.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import { type AccountFeed, type Held, makeAccountFeeds } from "./accountFeeds.ts"

/** Options for `makeAccountWatch`. */
export interface AccountWatchOptions {
  /** How long to wait for a notification before the newest generations are read without one. */
  readonly pollInterval: Duration.Duration
  /** Maximum number of changed generations that a stream holds for a slow reader. */
  readonly heldMax: number
}

/** Makes the use-case. */
export const makeAccountWatch = Effect.fnUntraced(function*({ heldMax, pollInterval }: AccountWatchOptions) {
  const store = yield* GenerationStore
  const watch = yield* makeAccountFeeds({ heldMax })

  return (account: string, since?: DateTime.Utc) =>
    Stream.unwrap(Effect.gen(function*() {
      // Watched before the first read, so that a change in between is in the read or in the feed.
      const feed = yield* watch(account)
      const read = store.list(account, { limit: newestMax })
      const { generations, view } = yield* readNewest(read)
      const missed = since === undefined ? [] : generations.filter((generation) => isNewSince(generation, since))
      const later = Stream.unfold(view, makeNext(feed, read, pollInterval)).pipe(Stream.flattenIterable)
      return Stream.concat(Stream.fromIterable(missed), later)
    }))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum number of generations that are read without a notification. An account has fewer that have not ended. */
const newestMax = 100

/** Difference between the clocks of hosts for which a reader misses nothing. */
const clockTolerance = { seconds: 10 } as const

/** The states that were sent to the reader of a stream. */
interface View {
  readonly known: Map<GenerationId, Status>
  /** When the newest generations were read, in milliseconds since 1970. */
  readonly readAt: number
}

/** Whether a reader who has seen all changes until `since` may not know this state. */
const isNewSince = ({ finishedAt }: Generation, since: DateTime.Utc): boolean =>
  finishedAt === null || DateTime.isGreaterThan(DateTime.addDuration(finishedAt, clockTolerance), since)

/** Makes a function that returns the next changed generations, oldest first, or `undefined` once none will follow. */
const makeNext = <E>(
  feed: AccountFeed,
  read: Effect.Effect<ReadonlyArray<Generation>, E>,
  pollInterval: Duration.Duration
) =>
  Effect.fnUntraced(function*(last: View) {
    let view = last
    while (true) {
      const left = view.readAt + Duration.toMillis(pollInterval) - (yield* Clock.currentTimeMillis)
      const changed = left > 0 ? yield* Effect.timeoutOption(feed.take, left) : Option.none<Held | undefined>()
      if (Option.isSome(changed) && changed.value === undefined) return undefined
      const held = Option.getOrUndefined(changed)
      const newest = held?.isComplete === true ? undefined : yield* readNewest(read)
      const news = newsOf(view, [...held?.generations ?? [], ...newest?.generations ?? []])
      view = newest?.view ?? view
      if (news.length > 0) return [news, view] as const
    }
  })

/** Returns the generations whose states the reader does not know, and adds these to the view. */
const newsOf = ({ known }: View, generations: ReadonlyArray<Generation>): ReadonlyArray<Generation> =>
  generations.filter(({ id, status }) => {
    const before = known.get(id)
    // A feed can be read before the newest generations, and arrive after them.
    if (before === status || (before !== undefined && rankOf(status) < rankOf(before))) return false
    known.set(id, status)
    return true
  })

/** Reads the newest generations, oldest first, and makes a view in which they are known. */
const readNewest = Effect.fnUntraced(function*<E>(read: Effect.Effect<ReadonlyArray<Generation>, E>) {
  const readAt = yield* Clock.currentTimeMillis
  const generations = (yield* read).toReversed()
  const view: View = { known: new Map(generations.map(({ id, status }) => [id, status])), readAt }
  return { generations, view }
})

/** States follow each other by rank. A queued generation can become pending again. */
const rankOf = (status: Status): number => isFinal(status) ? 2 : status === "processing" ? 1 : 0
