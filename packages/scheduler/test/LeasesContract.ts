/** The guarantees of leases on every backend. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, type Layer } from "effect"
import { makeWorld } from "../src/internal/contract/world.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { Wakeup } from "../src/Wakeup.ts"
import type { Backend } from "./Fixture.ts"
import { play } from "./PoisonStory.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Leases (${name})`, (it) => {
    it.effect("wakes workers when jobs are released, after the unit has committed, unless all leases are lost", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const wakeup = yield* Wakeup
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        const woken = yield* wakeup.subscribe
        yield* atomically(Effect.gen(function*() {
          yield* scheduler.release([claimed!])
          assert.isFalse(woken.isOpen())
        }))
        assert.isTrue(woken.isOpen())
        yield* woken.close
        yield* scheduler.release([claimed!])
        assert.isFalse(woken.isOpen())
      }).pipe(Effect.scoped))

    it.effect("fails jobs that end the process of their worker, and no job that ran beside them", () =>
      Effect.forEach([3, 5], (attemptsMax) => play({ innocent: 6, poisoned: 2, slots: 4, attemptsMax })))
  })
