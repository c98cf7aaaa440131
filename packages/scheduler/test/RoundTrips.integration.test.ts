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

/** `BEGIN` and `COMMIT` included. Transactions wait for each statement, as those of drivers that do not pipeline. */
const bounds = {
  enqueue: { statements: 4, roundTrips: 4, writesAfterLock: 2, writesAfterRead: 1 },
  enqueueLeased: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  settle: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  // Looks for a lane without waiting jobs first.
  settleAndPromote: { statements: 7, roundTrips: 7, writesAfterLock: 4, writesAfterRead: 1 },
  settleAndClaim: { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 },
  cancel: { statements: 6, roundTrips: 6, writesAfterLock: 3, writesAfterRead: 1 }
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

/** One statement without a transaction, of which the server releases the locks by itself. */
const statement = { statements: 1, roundTrips: 1, writesAfterLock: 0, writesAfterRead: 0 }

it.live("workers claim, release, store checkpoints, and renew leases in one statement each", () =>
  Effect.gen(function*() {
    const { costOf, database } = yield* RoundTrips.make
    const costs = yield* Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { job, kind } = yield* makeWorld
      const lease = yield* takeLease("1 minute")
      yield* Effect.forEach([1, 2], () => scheduler.enqueue(job({ cap: 2 })))
      const claim = scheduler.claim({ lease, worker: "test", kinds: [kind.name], limit: 1 })
      const [running] = yield* claim
      const { epoch, job: id } = running!
      return {
        claim: yield* costOf(claim),
        renewLease: yield* costOf(scheduler.renewLease({ lease, kinds: [kind.name], ttl: "1 minute" })),
        isDrained: yield* costOf(scheduler.isDrained(lease)),
        checkpoint: yield* costOf(scheduler.checkpoint({ job: id, epoch, checkpoint: 1 })),
        release: yield* costOf(scheduler.release([{ job: id, epoch }]))
      }
    }).pipe(Effect.provide(over(database)))
    assert.deepStrictEqual(costs, {
      claim: statement,
      renewLease: statement,
      isDrained: statement,
      checkpoint: statement,
      release: statement
    })
  }).pipe(Effect.scoped))

/** With transactions that pipeline, as in the service. */
const pipelinedBounds = {
  // A job that waits for a slot.
  enqueue: { statements: 4, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  claimInUnit: { statements: 3, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  // Looks for a lane without waiting jobs first. Awaits the promoted jobs, since its caller writes rows for them.
  settleAndPromote: { statements: 7, roundTrips: 4, writesAfterLock: 2, writesAfterRead: 1 },
  // Finds the lane of the job first.
  cancel: { statements: 6, roundTrips: 3, writesAfterLock: 1, writesAfterRead: 1 },
  lowerCap: { statements: 4, roundTrips: 2, writesAfterLock: 1, writesAfterRead: 1 },
  raiseCap: { statements: 5, roundTrips: 3, writesAfterLock: 2, writesAfterRead: 1 }
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
      const settleAndPromote = yield* costOf(scheduler.settle(running!))
      const [, waiting] = [yield* scheduler.enqueue(job({ cap: 1 })), yield* scheduler.enqueue(job({ cap: 1 }))]
      return {
        enqueue,
        claimInUnit,
        settleAndPromote,
        cancel: yield* costOf(scheduler.cancel(waiting.job)),
        lowerCap: yield* costOf(scheduler.setCap(job({ cap: 0 }))),
        raiseCap: yield* costOf(scheduler.setCap(job({ cap: 2 })))
      }
    }).pipe(Effect.provide(over(database)))
    assert.deepStrictEqual(costs, pipelinedBounds)
  }).pipe(Effect.scoped))
