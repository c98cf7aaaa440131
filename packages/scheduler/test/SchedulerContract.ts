/** The guarantees of the scheduler on every backend. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Result } from "effect"
import { makeWorld } from "../src/internal/contract/world.ts"
import { Scheduler } from "../src/Scheduler.ts"
import type { Backend } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Scheduler (${name})`, (it) => {
    it.effect("queues 20 jobs per group by default", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const results = yield* Effect.forEach(
          Array.from({ length: 30 }, () => world.job()),
          (job) => Effect.result(scheduler.enqueue(job)),
          { concurrency: 30 }
        )
        assert.strictEqual(results.filter(Result.isSuccess).length, 21)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))
  })
