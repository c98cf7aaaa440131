/** Jobs that end the process of their worker, among others that do not. */
import { assert } from "@effect/vitest"
import { Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import { ids, makeWorld, takeLease } from "../src/internal/contract/world.ts"
import { Scheduler } from "../src/Scheduler.ts"

/** A set of jobs, and how their workers claim. */
export interface Story {
  readonly innocent: number
  readonly poisoned: number
  /** Jobs that a worker runs at the same time. */
  readonly slots: number
  readonly attemptsMax: number
}

/**
 * Runs all jobs to their end. A worker that runs a poisoned job is lost with all its jobs; some of
 * the others may have ended before. Asserts that exactly the poisoned jobs fail.
 */
export const play = Effect.fnUntraced(function*({ attemptsMax, innocent, poisoned, slots }: Story) {
  const scheduler = yield* Scheduler
  const world = yield* makeWorld
  const cap = innocent + poisoned
  const enqueue = Effect.suspend(() => scheduler.enqueue(world.job({ cap, attemptsMax })))
  const kinds = [world.kind.name]
  const all: Array<string> = []
  const poison = new Set<string>()
  for (let count = 0; count < cap; count++) {
    const { job } = yield* enqueue
    all.push(job)
    if ((yield* Random.nextIntBetween(0, cap - 1)) < poisoned) poison.add(job)
  }
  const completed = new Set<string>()
  const failed = new Set<string>()

  const turn = Effect.gen(function*() {
    const lease = yield* takeLease("8 seconds")
    const { exhausted } = yield* world.rescue({ lease, limit: 100 })
    for (const job of exhausted) {
      yield* scheduler.settle(job)
      failed.add(job.job)
    }
    const alone = yield* scheduler.isAloneDue({ id: lease, kinds, isIdle: true })
    const jobs = yield* world.claim({ lease, alone, limit: slots })
    if (alone) assert.isAtMost(jobs.length, 1)
    for (const job of jobs) {
      assert.isAtMost(job.attempt, attemptsMax)
      // The process ends, with all jobs that have not been settled.
      if (poison.has(job.job)) break
      yield* scheduler.settle(job)
      completed.add(job.job)
    }
    yield* TestClock.adjust("8 seconds")
  })

  let turns = 0
  while (completed.size + failed.size < cap) {
    yield* turn
    // Each job is claimed at most `attemptsMax` times, and waits once.
    assert.isAtMost(++turns, 10 + cap * (attemptsMax + 3))
  }
  assert.sameMembers([...failed], [...poison])
  assert.sameMembers([...completed], all.filter((job) => !poison.has(job)))
  assert.deepStrictEqual(ids(yield* scheduler.find(all)), [])
  assert.deepStrictEqual(yield* scheduler.verify, [])
})
