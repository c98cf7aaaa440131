import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Hit, layer as layerRateLimit } from "../src/RateLimit.ts"
import type { RateLimitStore } from "../src/RateLimitStore.ts"
import * as Process from "./Process.ts"

/** The behaviour of sliding windows and token buckets on every backend. */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<RateLimitStore | UnitOfWork.UnitOfWork, E>
) =>
  layer(layerRateLimit.pipe(Layer.provideMerge(backend)))(`Algorithms (${name})`, (it) => {
    for (const algorithm of ["slidingWindow", "tokenBucket"] as const) {
      it.effect(`reject hits of a used limit without the store while none can fit (${algorithm})`, () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(2_000_000_000)
          const { calls, hit } = yield* Process.make()
          const request: Hit = { key: "full", limit: 20, window: "10 seconds", algorithm }
          yield* hit({ ...request, cost: 20 })
          for (const _ of [1, 2, 3]) assert.isFalse((yield* hit(request)).accepted)
          yield* TestClock.adjust("499 millis")
          const refused = yield* hit(request)
          assert.deepStrictEqual([refused.at.epochMilliseconds, calls.take], [2_000_000_499, 1])
          // A part of the window ends, and a token is filled up.
          yield* TestClock.adjust("1 millis")
          assert.strictEqual((yield* hit(request)).accepted, algorithm === "tokenBucket")
          assert.strictEqual(calls.take, 2)
          assert.isTrue((yield* hit({ ...request, limit: 30 })).accepted)
        }))
    }
  })
