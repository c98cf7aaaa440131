/** Distributes the changed generations to those who watch their accounts. */
import { Effect, Latch, RcRef, type Scope } from "effect"
import { Changes } from "../../Changes.ts"
import type { Generation, GenerationId } from "../../Generation.ts"
import { GenerationStore } from "../../GenerationStore.ts"

/** Changed generations of an account. */
export interface Held {
  /** Each once, in its last state that was read. */
  readonly generations: ReadonlyArray<Generation>
  /** `false` if some are missing. */
  readonly isComplete: boolean
}

/** A watch of the generations of an account. */
export interface AccountFeed {
  /** Waits for changed generations and takes them. `undefined` once none will follow. */
  readonly take: Effect.Effect<Held | undefined>
}

/** Options for `makeAccountFeeds`. */
export interface AccountFeedsOptions {
  /** Maximum number of generations that a watch holds. */
  readonly heldMax: number
}

/**
 * Makes a function that watches an account until the scope closes. While at least one account is watched, one fiber reads
 * each set of changed generations once, since a notification does not name the account.
 */
export const makeAccountFeeds = Effect.fnUntraced(function*({ heldMax }: AccountFeedsOptions) {
  const feeds = yield* RcRef.make({ acquire: makeShared(heldMax) })
  return (account: string): Effect.Effect<AccountFeed, never, Scope.Scope> =>
    Effect.flatMap(RcRef.get(feeds), ({ open }) => open(account))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The generations that one watch holds. */
interface Feed {
  readonly latch: Latch.Latch
  readonly held: Map<GenerationId, Generation>
  isComplete: boolean
  isEnded: boolean
}

/** Makes the watches that share a fiber, which runs until the scope closes. */
const makeShared = Effect.fnUntraced(function*(heldMax: number) {
  const changes = yield* Changes
  const store = yield* GenerationStore
  const byAccount = new Map<string, Set<Feed>>()
  let isEnded = false

  const update = (feed: Feed, change: Partial<Pick<Feed, "isComplete" | "isEnded">>): void => {
    Object.assign(feed, change)
    feed.latch.openUnsafe()
  }
  const updateAll = (change: Partial<Pick<Feed, "isComplete" | "isEnded">>): void =>
    byAccount.forEach((feeds) => feeds.forEach((feed) => update(feed, change)))

  const distribute = (generation: Generation): void =>
    byAccount.get(generation.account)?.forEach((feed) => {
      const hasRoom = feed.held.has(generation.id) || feed.held.size < heldMax
      if (hasRoom) feed.held.set(generation.id, generation)
      update(feed, hasRoom ? {} : { isComplete: false })
    })

  const next = yield* changes.watchAll
  const distributeAll = Effect.gen(function*() {
    for (let changed = yield* next; changed !== undefined; changed = yield* next) {
      // After a failure, watches read the newest generations instead, and fail if they cannot.
      const found = yield* Effect.orElseSucceed(store.find(changed.ids), () => undefined)
      found?.forEach(distribute)
      if (found === undefined || !changed.isComplete) updateAll({ isComplete: false })
    }
    isEnded = true
    updateAll({ isEnded: true })
  })
  yield* Effect.forkScoped(distributeAll, { startImmediately: true })

  const open = (account: string): Feed => {
    const feed: Feed = { latch: Latch.makeUnsafe(isEnded), held: new Map(), isComplete: true, isEnded }
    byAccount.set(account, (byAccount.get(account) ?? new Set()).add(feed))
    return feed
  }
  const close = (account: string, feed: Feed): void => {
    const feeds = byAccount.get(account)
    feeds?.delete(feed)
    if (feeds?.size === 0) byAccount.delete(account)
  }

  return {
    open: (account: string): Effect.Effect<AccountFeed, never, Scope.Scope> =>
      Effect.map(
        Effect.acquireRelease(Effect.sync(() => open(account)), (feed) => Effect.sync(() => close(account, feed))),
        (feed) => ({ take: Effect.andThen(feed.latch.await, Effect.sync(() => take(feed))) })
      )
  }
})

/** Takes what a watch holds. What it holds at the end comes before the end. */
const take = (feed: Feed): Held | undefined => {
  if (feed.isEnded && feed.held.size === 0) return undefined
  const held = { generations: Array.from(feed.held.values()), isComplete: feed.isComplete }
  feed.held.clear()
  feed.isComplete = true
  if (!feed.isEnded) feed.latch.closeUnsafe()
  return held
}
