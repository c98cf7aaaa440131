/** Watches of all generations. */
import { Effect, Latch } from "effect"
import type { GenerationId } from "../Generation.ts"

/** Generations that changed. */
export interface ChangedSet {
  readonly ids: ReadonlyArray<GenerationId>
  /** `false` if some are missing: more generations changed than are collected, or changes of other processes did not arrive. */
  readonly isComplete: boolean
}

/** Makes an empty set of watches. Each collects at most `collectedMax` ids. */
export const makeFeeds = (collectedMax: number) => {
  const feeds = new Set<Feed>()
  let isEnded = false

  const open = () => {
    const feed: Feed = { latch: Latch.makeUnsafe(isEnded), ids: new Set(), isComplete: true }
    feeds.add(feed)
    return feed
  }

  const take = (feed: Feed): ChangedSet | undefined => {
    if (isEnded) return undefined
    const changed = { ids: Array.from(feed.ids), isComplete: feed.isComplete }
    feed.ids.clear()
    feed.isComplete = true
    feed.latch.closeUnsafe()
    return changed
  }

  return {
    /** Adds a watch until the scope closes. The returned effect waits for changes and takes them. */
    watch: Effect.map(
      Effect.acquireRelease(Effect.sync(open), (feed) => Effect.sync(() => feeds.delete(feed))),
      (feed) => Effect.andThen(feed.latch.await, Effect.sync(() => take(feed)))
    ),

    /** Adds changed generations to all watches. */
    add: (ids: ReadonlyArray<GenerationId>): void => {
      if (ids.length === 0) return
      for (const feed of feeds) {
        for (const id of ids) {
          if (feed.ids.size < collectedMax) feed.ids.add(id)
          else if (!feed.ids.has(id)) feed.isComplete = false
        }
        feed.latch.openUnsafe()
      }
    },

    /** Completes all watches, with a set from which changed generations are missing. */
    miss: (): void => {
      for (const feed of feeds) {
        feed.isComplete = false
        feed.latch.openUnsafe()
      }
    },

    /** Ends all watches. */
    end: (): void => {
      isEnded = true
      for (const feed of feeds) feed.latch.openUnsafe()
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The ids that a watch collected. */
interface Feed {
  readonly latch: Latch.Latch
  readonly ids: Set<GenerationId>
  isComplete: boolean
}
