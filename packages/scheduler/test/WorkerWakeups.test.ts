/** A worker sleeps while jobs are queued that it does not claim. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as JobKind from "../src/JobKind.ts"
import * as MemorySchedulerStore from "../src/MemorySchedulerStore.ts"
import { layerWith, Scheduler } from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import * as Wakeup from "../src/Wakeup.ts"
import { startWorker } from "./Fixture.ts"

it.effect("a worker claims only when jobs of its kinds are queued, and looks for due jobs only when one is delayed", () => {
  let claims = 0
  let looks = 0
  const counting = Layer.effect(
    SchedulerStore,
    Effect.map(SchedulerStore, (store) => ({
      ...store,
      claim: (terms) => Effect.andThen(Effect.sync(() => claims++), store.claim(terms)),
      dueIn: Effect.andThen(Effect.sync(() => looks++), store.dueIn)
    }))
  )
  const scheduling = layerWith().pipe(
    Layer.provideMerge(Layer.merge(Layer.provide(counting, MemorySchedulerStore.layer), Wakeup.layer)),
    Layer.provideMerge(UnitOfWork.layerMemory)
  )
  return Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    const ran = yield* Queue.unbounded<number>()
    const handler = JobHandler.make({
      kind: world.kind,
      pools: ["own"],
      run: ({ payload }) => Queue.offer(ran, payload.n),
      failed: () => Effect.succeed(false)
    })
    const long = {
      lease: "2 days",
      pollInterval: "1 day",
      rescueInterval: "1 day",
      heartbeatInterval: "1 day"
    } as const
    yield* startWorker({ name: "worker", handlers: [handler], ...long })
    yield* TestClock.adjust("1 second")
    const before = { claims, looks }
    const enqueueIn = (pool: string) =>
      scheduler.enqueue(world.job({ lane: pool, kind: JobKind.pool(world.kind, pool), cap: 10, payload: { n: 1 } }))

    for (const _ of [1, 2, 3]) yield* Effect.andThen(enqueueIn("other"), TestClock.adjust("1 second"))
    assert.deepStrictEqual({ claims, looks }, before)

    // In a unit, so that the job is not handed over.
    yield* atomically(enqueueIn("own"))
    assert.strictEqual(yield* Queue.take(ran), 1)
    assert.isAbove(claims, before.claims)
    assert.strictEqual(looks, before.looks)

    yield* scheduler.enqueue({ ...world.job({ payload: { n: 2 } }), delay: "1 minute" })
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* Queue.take(ran), 2)
  }).pipe(Effect.provide(scheduling), Effect.scoped)
})
