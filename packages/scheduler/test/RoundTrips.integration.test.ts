/** Statements and round trips of single operations, which have no others to fold with. */
import { assert, it } from "@effect/vitest"
import { Pipelining } from "@kinora/persistence"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { RoundTrips } from "@kinora/testkit"
import { Effect } from "effect"
import { makeWorld, takeLease } from "../src/internal/contract/world.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { Wakeup } from "../src/Wakeup.ts"
import { over } from "./Fixture.ts"

/** Upper bounds, `BEGIN` and `COMMIT` included. Locks of a unit wait for the client in each round trip. */
const bounds = {
  enqueue: { statements: 4, roundTrips: 4 },
  enqueueLeased: { statements: 1, roundTrips: 1 },
  settle: { statements: 1, roundTrips: 1 },
  // Looks for a lane without waiting jobs first.
  settleAndPromote: { statements: 7, roundTrips: 7 },
  settleAndClaim: { statements: 1, roundTrips: 1 },
  cancel: { statements: 6, roundTrips: 6 }
}

it.live("operations send no more statements than these, and wait for no more responses", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.make
    const costs = yield* Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { handovers } = yield* Wakeup
      const { claim, job } = yield* makeWorld
      const lease = yield* takeLease("1 minute")
      yield* scheduler.setCap(job({ cap: 2 }))
      const enqueue = yield* costOf(scheduler.enqueue(job({ cap: 2 })))
      const [claimed] = yield* claim()
      const settle = yield* costOf(scheduler.settle(claimed!))
      const remove = handovers.add(() =>
        Effect.succeed({ lease, worker: "test", start: () => Effect.void, release: Effect.void })
      )
      const leased = job({ cap: 2 })
      const enqueueLeased = yield* costOf(scheduler.enqueue(leased))
      const [running] = yield* scheduler.find([leased.job])
      assert.strictEqual(running?.state, "running")
      remove()
      const [, waiting] = [yield* scheduler.enqueue(job({ cap: 2 })), yield* scheduler.enqueue(job({ cap: 2 }))]
      const settleAndPromote = yield* costOf(scheduler.settle(running!))
      const cancel = yield* costOf(scheduler.cancel(waiting.job))
      yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(job({ cap: 2 })))
      const [next] = yield* claim()
      return {
        enqueue,
        enqueueLeased,
        settle,
        settleAndPromote,
        settleAndClaim: yield* costOf(
          scheduler.settleAndClaim([next!], { lease, worker: "test", kinds: [next!.kind], limit: 1 })
        ),
        cancel
      }
    }).pipe(Effect.provide(over(database)))
    assert.deepStrictEqual(costs, bounds)
  }).pipe(Effect.scoped))

/** With transactions that pipeline, as in the service. */
const pipelinedBounds = {
  // A job that waits for a slot.
  enqueue: { statements: 4, roundTrips: 2 },
  claimInUnit: { statements: 3, roundTrips: 2 },
  // Looks for a lane without waiting jobs first, and awaits the promoted ones.
  settleAndPromote: { statements: 7, roundTrips: 5 }
}

it.live("in units that pipeline, the first and the last statements go together", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.makeWith(Pipelining.over)
    const costs = yield* Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const scheduler = yield* Scheduler
      const { job, kind } = yield* makeWorld
      const lease = yield* takeLease("1 minute")
      const first = job({ cap: 1 })
      yield* scheduler.enqueue(first)
      const enqueue = yield* costOf(scheduler.enqueue(job({ cap: 1 })))
      const claim = scheduler.claim({ lease, worker: "test", kinds: [kind.name], limit: 1 })
      const claimInUnit = yield* costOf(atomically(claim))
      const [running] = yield* scheduler.find([first.job])
      assert.strictEqual(running?.state, "running")
      return { enqueue, claimInUnit, settleAndPromote: yield* costOf(scheduler.settle(running!)) }
    }).pipe(Effect.provide(over(database)))
    assert.deepStrictEqual(costs, pipelinedBounds)
  }).pipe(Effect.scoped))
