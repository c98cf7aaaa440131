/** Processes that share a store. */
import { Context, Effect, Layer } from "effect"
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
