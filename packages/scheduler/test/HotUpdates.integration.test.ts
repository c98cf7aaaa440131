import { assert, it } from "@effect/vitest"
import { Decision, UnitOfWork } from "@kinora/persistence"
import { HotUpdates } from "@kinora/testkit"
import { Effect } from "effect"
import { makeWorld, takeLease } from "../src/internal/contract/world.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

it.live("jobs and leases change no index of lanes, groups and workers", () =>
  Effect.gen(function*() {
    const database = yield* HotUpdates.database
    yield* Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const world = yield* makeWorld
      const names = Array.from(
        { length: 400 },
        (_, n) => ({ lane: `${world.lane}-${n}`, group: `${world.group}-${n}` })
      )
      const some = names.filter((_, n) => n % 4 === 0)

      /** Enqueues a job into each lane in one unit. The first one takes the slot, the others wait. */
      const enqueueAll = (lanes: typeof names) =>
        Effect.gen(function*() {
          const jobs = lanes.map((lane) => world.job(lane))
          const { results, state } = Decision.all(yield* scheduler.load({ lanes: jobs }), jobs, Lanes.enqueue)
          assert.isTrue(results.every(({ _tag }) => _tag === "Success"))
          yield* scheduler.save(state)
        }).pipe(atomically)

      yield* enqueueAll(names)
      const leases = yield* Effect.forEach(Array.from({ length: 200 }), () => takeLease())
      const round = Effect.gen(function*() {
        yield* enqueueAll(some)
        yield* Effect.forEach(
          leases.filter((_, n) => n % 4 === 0),
          (lease) => scheduler.renewLease({ lease, kinds: [], ttl: "30 seconds" })
        )
      })
      yield* HotUpdates.verify({
        updates: { scheduler_lane: 400, scheduler_group: 400, scheduler_worker: 200 },
        rounds: Array.from({ length: 4 }, () => round)
      })
    }).pipe(Effect.provide(over(database)))
  }).pipe(Effect.scoped))
