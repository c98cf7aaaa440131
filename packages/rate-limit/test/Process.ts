/** Processes that share a store. */
import { Context, Effect, Fiber, Layer } from "effect"
import * as RateLimit from "../src/RateLimit.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"

/** Creates another process on the store. Counts its calls of the store. */
export const make = Effect.fnUntraced(function*(options: RateLimit.RateLimitOptions = {}) {
  const store = yield* RateLimitStore
  const calls = { take: 0, add: 0, read: 0 }
  const context = yield* Layer.build(Layer.fresh(RateLimit.layerWith(options))).pipe(
    Effect.provideService(RateLimitStore, {
      ...store,
      take: (kind, demands) => Effect.suspend(() => (calls.take++, store.take(kind, demands))),
      add: (kind, amounts) => Effect.suspend(() => (calls.add++, store.add(kind, amounts))),
      read: (kind, counters) => Effect.suspend(() => (calls.read++, store.read(kind, counters)))
    })
  )
  return { ...Context.get(context, RateLimit.RateLimit), calls }
})

/** Counts the accepted hits of calls that run in the background, since a hit that may wait needs time to pass. */
export const makeTally = (request: RateLimit.Hit) => {
  const calls: Array<Fiber.Fiber<void, unknown>> = []
  let accepted = 0
  return {
    accepted: () => accepted,

    /** Begins a number of hits in a process. */
    begin: Effect.fnUntraced(function*(
      { hit }: Pick<RateLimit.RateLimit["Service"], "hit">,
      hits: number,
      concurrency: number = hits
    ) {
      const one = Effect.map(hit(request), (verdict) => {
        if (verdict.accepted) accepted++
      })
      const all = Effect.forEach(Array.from({ length: hits }), () => one, { concurrency, discard: true })
      calls.push(yield* Effect.forkChild(all, { startImmediately: true }))
    }),

    /** Waits until all hits have ended. */
    end: Effect.suspend(() => Fiber.joinAll(calls))
  }
}
