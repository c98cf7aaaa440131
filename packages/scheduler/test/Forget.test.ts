/** Groups that are forgotten while their jobs end. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, Layer } from "effect"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as MemorySchedulerStore from "../src/MemorySchedulerStore.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import * as Wakeup from "../src/Wakeup.ts"

/** Runs after lanes were deleted. */
let afterLanes: Effect.Effect<void> = Effect.void

const store = Layer.effect(
  SchedulerStore,
  Effect.map(SchedulerStore, (store) => ({
    ...store,
    forgetLanes: (group: string, limit: number) =>
      Effect.tap(store.forgetLanes(group, limit), () => Effect.suspend(() => afterLanes))
  }))
).pipe(Layer.provide(MemorySchedulerStore.layer))

const memory = Scheduler.layerWith().pipe(
  Layer.provideMerge(Layer.merge(store, Wakeup.layer)),
  Layer.provideMerge(UnitOfWork.layerMemory)
)

layer(memory)("Forgetting a group", (it) => {
  it.effect("counts a job as left that ends after the lanes were deleted, since its lane is", () =>
    Effect.gen(function*() {
      const { enqueue, forget, settle } = yield* Scheduler.Scheduler
      const { groupsAfter } = yield* SchedulerStore
      const { claim, group, job } = yield* makeWorld
      yield* enqueue(job())
      const [running] = yield* claim()
      afterLanes = Effect.orDie(Effect.asVoid(settle(running!)))
      assert.deepStrictEqual(yield* forget({ group }), { jobs: 0, left: 1 })
      afterLanes = Effect.void
      assert.deepStrictEqual(yield* forget({ group }), { jobs: 0, left: 0 })
      assert.deepStrictEqual(yield* groupsAfter("", 10), [])
    }))
})
