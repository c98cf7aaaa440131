/** A worker that runs many jobs at the same time. */
import { assert, layer } from "@effect/vitest"
import { Decision, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Latch } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as Lanes from "../src/Lanes.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { memory, over, startWorker } from "./Fixture.ts"

const lanes = 10
const cap = 60
const jobsPerLane = 80
/** The default of `claimMax`. */
const claimMax = 256

const backends = [
  ["memory", memory] as const,
  ...TestDatabase.all.map(([name, database]) => [name, over(database)] as const)
]

for (const [name, backend] of backends) {
  layer(backend)(`A worker with room for more than 200 jobs (${name})`, (it) => {
    it.effect("claims whole batches while it runs more than 200 jobs, and keeps the caps exactly", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler.Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const jobs = Array.from(
          { length: lanes * jobsPerLane },
          (_, n) => world.job({ cap, lane: `${world.lane}-${n % lanes}`, waitingMax: Infinity })
        )
        yield* atomically(Effect.gen(function*() {
          const { state } = Decision.all(yield* scheduler.load({ lanes: jobs.slice(0, lanes) }), jobs, Lanes.enqueue)
          yield* scheduler.save(state)
        }))
        const [isFull, gate, isDone] = [yield* Latch.make(), yield* Latch.make(), yield* Latch.make()]
        const running = new Map<string, number>()
        let [started, most] = [0, 0]
        const count = (lane: string, change: number) => {
          const now = (running.get(lane) ?? 0) + change
          running.set(lane, now)
          most = Math.max(most, now)
        }
        const claims: Array<number> = []
        const recorded = Scheduler.Scheduler.of({
          ...scheduler,
          claim: (options) =>
            Effect.tap(scheduler.claim(options), (claimed) => Effect.sync(() => claims.push(claimed.length)))
        })
        const handler = JobHandler.make({
          kind: world.kind,
          run: ({ lane }) =>
            Effect.suspend(() => {
              count(lane, 1)
              if (++started === lanes * cap) isFull.openUnsafe()
              if (started === jobs.length) isDone.openUnsafe()
              return gate.await
            }).pipe(Effect.andThen(Effect.sync(() => count(lane, -1)))),
          failed: (_, cause) => Effect.logError("A job failed", cause)
        })
        yield* startWorker({ name: "many", handlers: [handler], concurrency: 1_000 }).pipe(
          Effect.provideService(Scheduler.Scheduler, recorded)
        )
        yield* isFull.await
        assert.deepStrictEqual(claims.slice(0, 3), [claimMax, claimMax, lanes * cap - 2 * claimMax])
        assert.deepStrictEqual(Array.from(running.values()), Array.from({ length: lanes }, () => cap))
        yield* gate.open
        yield* isDone.await
        assert.strictEqual(most, cap)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }).pipe(TestClock.withLive))
  })
}
