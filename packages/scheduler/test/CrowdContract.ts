/** Invariants while many workers claim, finish, fail, die and return late. */
import { assert, layer } from "@effect/vitest"
import type { StorageError } from "@kinora/persistence"
import { Array as Arr, Effect, type Layer, Random, Result } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld, takeLease } from "../src/internal/contract/world.ts"
import type { ClaimedJob } from "../src/Job.ts"
import { Scheduler } from "../src/Scheduler.ts"
import type { SchedulerError } from "../src/SchedulerError.ts"
import type { Backend } from "./Fixture.ts"

const workers = 32
const cap = 2
const groups = ["x", "y"]
const lanesPerGroup = 4

/**
 * Turns per check of the slots, which reads all live jobs. All workers run at the same time, so about eight checks begin
 * during each turn.
 */
const turnsPerCheck = 4

/** Repeats random turns of all workers, `turns` in total, and checks the slots in between. */
export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>, turns: number) =>
  layer(backend)(`A crowd of workers (${name})`, (it) => {
    it.effect("never holds more slots than there are, and ends every job once", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        let taken = 0
        /** Jobs that may be in the tables, and how often each was ended. */
        const live = new Set<string>()
        const ended = new Map<string, number>()
        const end = (job: string) => {
          live.delete(job)
          ended.set(job, (ended.get(job) ?? 0) + 1)
        }

        const pickLane = Effect.gen(function*() {
          const group = groups[yield* Random.nextIntBetween(0, groups.length - 1)]!
          const index = yield* Random.nextIntBetween(0, lanesPerGroup - 1)
          return { group: `${world.group}-${group}`, lane: `${world.lane}-${group}-${index}` }
        })

        const produce = Effect.gen(function*() {
          const command = world.job({ ...(yield* pickLane), cap, attemptsMax: 2 })
          live.add(command.job)
          const delay = (yield* Random.next) < 0.3 ? { seconds: yield* Random.nextIntBetween(1, 30) } : 0
          const result = yield* refused(scheduler.enqueue({ ...command, delay }))
          if (Result.isFailure(result)) live.delete(command.job)
        })

        const cancel = Effect.gen(function*() {
          const [job] = live
          if (job === undefined) return
          const result = yield* refused(scheduler.cancel(job))
          if (Result.isSuccess(result)) end(job)
        })

        const settle = Effect.fnUntraced(function*(job: ClaimedJob) {
          const result = yield* refused(scheduler.settle(job))
          if (Result.isSuccess(result)) end(job.job)
        })

        /** Ends jobs, and leases others in their slots, which end like claimed ones. */
        const settleAndClaim: (jobs: ReadonlyArray<ClaimedJob>) => Effect.Effect<void, StorageError.StorageError> =
          Effect
            .fnUntraced(function*(jobs) {
              const terms = { lease, worker: "test", kinds: [world.kind.name], limit: jobs.length }
              const { claimed, left } = yield* scheduler.settleAndClaim(jobs, terms)
              for (const job of jobs) {
                if (left.includes(job.job)) yield* settle(job)
                else end(job.job)
              }
              yield* Effect.forEach(claimed, finish, { discard: true })
            })

        const finish = Effect.fnUntraced(function*(job: ClaimedJob) {
          const fate = yield* Random.next
          if (fate < 0.3) yield* settle(job)
          else if (fate < 0.6) yield* settleAndClaim([job])
          else if (fate < 0.7) yield* scheduler.release([job])
          else if (fate < 0.8) {
            // The lease may be lost by now.
            yield* Effect.asVoid(refused(scheduler.checkpoint({ ...job, checkpoint: job.attempt })))
            yield* settle(job)
          } else lost.push(job)
        })

        /** Leases of lost workers, some of which return late and try to settle. */
        const lost: Array<ClaimedJob> = []
        const work = Effect.gen(function*() {
          const [together, ...others] = Arr.chunksOf(yield* world.claim({ lease, limit: 4 }), 2)
          if (together?.length === 2) yield* settleAndClaim(together)
          else yield* Effect.forEach(together ?? [], finish, { discard: true })
          yield* Effect.forEach(others.flat(), finish, { discard: true })
          const late = lost.length > 20 ? lost.shift() : undefined
          if (late !== undefined) yield* settle(late)
        })

        const place = scheduler.enqueueDue(8)

        const check = Effect.gen(function*() {
          const held = new Map<string, number>()
          for (const { lane, state } of yield* scheduler.find(Array.from(live))) {
            if (state === "queued" || state === "running") held.set(lane, (held.get(lane) ?? 0) + 1)
          }
          for (const [lane, count] of held) assert.isAtMost(count, cap, lane)
        })

        /** The workers since the last rescue share it, and nobody renews it. */
        let lease = yield* takeLease()
        const rescue = Effect.gen(function*() {
          yield* TestClock.adjust("10 seconds")
          lease = yield* takeLease()
          const { exhausted } = yield* world.rescue({ lease })
          yield* Effect.forEach(exhausted, settle, { discard: true })
          const claimAlone = world.claim({ lease, alone: true })
          const settleAlone = Effect.tap(claimAlone, (jobs) => Effect.forEach(jobs, settle, { discard: true }))
          yield* Effect.repeat(settleAlone, { while: (jobs) => jobs.length > 0 })
        })

        const turn = Effect.gen(function*() {
          const what = yield* Random.next
          yield* (what < 0.45 ? produce : what < 0.85 ? work : what < 0.9 ? place : what < 0.95 ? cancel : rescue)
          taken++
          if (taken % turnsPerCheck === 0) yield* check
        })
        const repeat = Effect.repeat(turn, { until: () => taken >= turns })
        yield* Effect.forEach(Array.from({ length: workers }), () => repeat, { concurrency: workers, discard: true })
        assert.deepStrictEqual(yield* scheduler.verify, [])

        while (live.size > 0) {
          yield* TestClock.adjust("30 seconds")
          yield* rescue
          yield* scheduler.enqueueDue(100)
          yield* Effect.forEach(yield* world.claim({ limit: 100 }), settle, { discard: true })
        }
        assert.isAbove(ended.size, turns / 10)
        assert.isTrue(Array.from(ended.values()).every((times) => times === 1))
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }), { timeout: 300_000 })
  })

/** Refusals are expected. A failure of the storage, such as a deadlock, fails the test. */
const refused = <A>(effect: Effect.Effect<A, SchedulerError | StorageError.StorageError>) =>
  Effect.result(Effect.catchTag(effect, "StorageError", (error) => Effect.die(error)))
