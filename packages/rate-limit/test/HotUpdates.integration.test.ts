import { it } from "@effect/vitest"
import { HotUpdates } from "@kinora/testkit"
import { Duration, Effect } from "effect"
import type * as Counter from "../src/internal/counter.ts"
import { RateLimitStore } from "../src/RateLimitStore.ts"
import * as Backend from "./Backend.ts"

it.effect("demands change no index of the counters, windows and buckets", () =>
  Effect.gen(function*() {
    const database = yield* HotUpdates.database
    yield* Effect.gen(function*() {
      const { take } = yield* RateLimitStore
      const window = { length: Duration.toMillis("1 hour"), parts: 1 }
      const demands = Array.from({ length: 400 }, (_, n): Counter.Demand => ({
        key: `key-${n}`,
        window,
        takes: 1,
        cost: 1,
        limit: 1_000
      }))
      const some = demands.filter((_, n) => n % 4 === 0)
      const kinds = ["minute", "day", "window", "bucket"] as const
      const takeOf = (demands: ReadonlyArray<Counter.Demand>) =>
        Effect.forEach(kinds, (kind) => take(kind, demands), { discard: true })
      yield* takeOf(demands)
      yield* HotUpdates.verify({
        updates: Object.fromEntries(kinds.map((kind) => [`rate_limit_${kind}`, 400])),
        rounds: Array.from({ length: 4 }, () => takeOf(some))
      })
    }).pipe(Effect.provide(Backend.over(database)))
  }).pipe(Effect.scoped))
