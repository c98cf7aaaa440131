/** Wake-ups name the kinds of the jobs that were queued, on every backend. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Effect, type Layer } from "effect"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as KindName from "../src/internal/kindName.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { Wakeup } from "../src/Wakeup.ts"
import type { Backend } from "./Fixture.ts"

/** Two kinds, and a function that returns which of their workers, and of those that place delayed jobs, an effect wakes. */
const watchKinds = Effect.gen(function*() {
  const { subscribeTo } = yield* Wakeup
  const world = yield* makeWorld
  const other = JobKind.pool(world.kind, "other")
  const latches = {
    own: yield* subscribeTo([world.kind.name]),
    other: yield* subscribeTo([other.name]),
    delayed: yield* subscribeTo([KindName.delayed])
  }
  const woken = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
    yield* Effect.forEach(Object.values(latches), ({ close }) => close)
    yield* effect
    return Object.entries(latches).filter(([, latch]) => latch.isOpen()).map(([name]) => name)
  })
  return { world, other, woken }
})

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Wake-ups (${name})`, (it) => {
    it.effect("name the kinds of enqueued jobs, and of those that get a slot", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { other, woken, world } = yield* watchKinds
        const first = world.job()
        assert.deepStrictEqual(yield* woken(scheduler.enqueue(first)), ["own"])
        assert.deepStrictEqual(yield* woken(scheduler.enqueue(world.job({ kind: other }))), [])
        // The waiting job of the other kind gets the slot.
        assert.deepStrictEqual(yield* woken(scheduler.cancel(first.job)), ["other"])
        yield* scheduler.enqueue(world.job())
        assert.deepStrictEqual(yield* woken(scheduler.setCap({ lane: world.lane, group: world.group, cap: 5 })), [
          "own"
        ])
        const both = [world.job({ cap: 5 }), world.job({ kind: other, cap: 5 })]
        assert.deepStrictEqual(yield* woken(Effect.forEach(both, scheduler.enqueue, { concurrency: 2 })), [
          "own",
          "other"
        ])
      }).pipe(Effect.scoped))

    it.effect("name the kinds of queued jobs that get other shares", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { other, woken, world } = yield* watchKinds
        yield* scheduler.enqueue(world.job({ cap: 5 }))
        yield* scheduler.enqueue(world.job({ kind: other, cap: 5 }))
        const weigh = scheduler.setCap({ lane: world.lane, group: world.group, cap: 5, weight: 2 })
        // The first job of a lane has the same share under every weight.
        assert.deepStrictEqual(yield* woken(weigh), ["other"])
      }).pipe(Effect.scoped))

    it.effect("name the kinds of jobs that get a slot, or another share, when others end in one statement", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { other, woken, world } = yield* watchKinds
        yield* scheduler.enqueue(world.job({ cap: 1 }))
        yield* scheduler.enqueue(world.job({ cap: 1, kind: other }))
        // Found by the direct statement only if a worker claims it.
        const offer = { worker: "test", kinds: [world.kind.name, other.name], slots: 1, ttl: "1 hour" } as const
        yield* scheduler.takeLease({ ...offer, id: world.lane })
        const ended = yield* world.claim()
        assert.deepStrictEqual(yield* woken(scheduler.settleAndClaim(ended)), ["other"])
      }).pipe(Effect.scoped))

    it.effect("name the kind of a job that is taken from its worker", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { other, woken, world } = yield* watchKinds
        yield* scheduler.enqueue(world.job({ kind: other }))
        const [claimed] = yield* world.claim({ kinds: [other.name] })
        assert.deepStrictEqual(yield* woken(scheduler.requeue(claimed!.job)), ["other"])
      }).pipe(Effect.scoped))

    it.effect("of delayed jobs wake those that place them only, until they are due", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const { woken, world } = yield* watchKinds
        assert.deepStrictEqual(yield* woken(scheduler.enqueue({ ...world.job(), delay: "1 hour" })), ["delayed"])
        yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        const retry = atomically(Effect.gen(function*() {
          const lanes = yield* scheduler.load({ lanes: [world], jobs: [claimed!] })
          const retried = Lanes.retry(lanes, { ...claimed!, delay: "1 hour" })
          if (retried._tag === "Failure") return assert.fail(retried.failure._tag)
          yield* scheduler.save(retried.success.state)
        }))
        assert.deepStrictEqual(yield* woken(retry), ["delayed"])
      }).pipe(Effect.scoped))

    it.effect("of jobs that their workers release wake the workers of all kinds", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { woken, world } = yield* watchKinds
        yield* scheduler.enqueue(world.job())
        const claimed = yield* world.claim()
        const released = claimed.map((job) => ({ ...job, pool: "other" }))
        assert.deepStrictEqual(yield* woken(scheduler.release(released)), ["own", "other", "delayed"])
      }).pipe(Effect.scoped))
  })
