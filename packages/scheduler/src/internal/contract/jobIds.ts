/** Tests of ids of jobs. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import { AlreadyRunning, DuplicateJob, InvalidJobId, NotFound } from "../reasons.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, stateOf } from "./world.ts"

/** Registers tests of ids that every operation returns. */
export const jobIdTests = (test: Register): void => {
  test("returns the id of the caller from every operation on a job", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [first, second, third] = [`${world.lane}/order 1`, `${world.lane}/order 2`, `${world.lane}/order 3`]
      assert.deepInclude(yield* scheduler.enqueue(world.job({ job: first })), { job: first, state: "queued" })
      assert.deepInclude(yield* scheduler.enqueue(world.job({ job: second })), { job: second, state: "pending" })
      const delayed = { ...world.job({ job: third }), delay: "1 minute" } as const
      assert.deepInclude(yield* scheduler.enqueue(delayed), { job: third, state: "delayed" })
      const found = yield* scheduler.find([first, second, third])
      assert.sameMembers(found.map(({ job, state }) => `${job} ${state}`), [
        `${first} queued`,
        `${second} pending`,
        `${third} delayed`
      ])

      const [lost] = yield* world.claim({ ttl: "1 second" })
      assert.deepInclude(lost, { job: first, epoch: 1 })
      yield* scheduler.checkpoint({ ...lost!, checkpoint: { frames: 1 } })
      assert.deepStrictEqual(yield* refusal(scheduler.cancel(first)), new AlreadyRunning({ job: first }))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [first])
      const [released] = yield* world.claim()
      yield* scheduler.release([released!])
      const [again] = yield* world.claim()
      assert.deepInclude(again, { job: first, checkpoint: Option.some({ frames: 1 }) })
      assert.isTrue(yield* scheduler.requeue(first))
      const [last] = yield* world.claim()
      assert.deepInclude(yield* scheduler.settle(last!), { job: first, state: "running" })

      assert.strictEqual(yield* stateOf(second), "queued")
      assert.include(ids(yield* scheduler.waiting(0, 10_000)), second)
      assert.notInclude(ids(yield* scheduler.waiting(0, 10_000, [second])), second)
      assert.deepInclude(yield* scheduler.cancel(second), { job: second, state: "queued" })
      assert.deepInclude(yield* scheduler.cancel(third), { job: third, state: "delayed" })
      assert.deepStrictEqual(yield* refusal(scheduler.cancel(third)), new NotFound({ job: third }))
      assert.deepStrictEqual(yield* scheduler.find([first, second, third]), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("returns the ids of jobs that get a slot together, and of those that exchange one", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [first, second, third] = [`${world.lane}/a`, `${world.lane}/b`, `${world.lane}/c`]
      for (const job of [first, second, third]) yield* scheduler.enqueue(world.job({ job }))
      const { promoted } = yield* scheduler.setCap({ ...world, cap: 2 })
      assert.deepStrictEqual(promoted, [second])
      const pool = { ...world.kind, name: `${world.kind.name}:gpu` }
      const offered = yield* scheduler.enqueue(world.job({ job: `${world.lane}/d`, kind: pool, cap: 2 }))
      const worker = { id: world.lane, worker: "gpu", kinds: [pool.name], slots: 1, ttl: "1 minute" } as const
      const lease = yield* scheduler.takeLease(worker)
      const swapped = yield* scheduler.swapSlots(1)
      assert.deepStrictEqual([ids(swapped.promoted), ids(swapped.displaced)], [[offered.job], [second]])
      yield* scheduler.returnLease(lease)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of ids that are kept, and of different ones. */
export const keptJobIdTests = (test: Register): void => {
  test("keeps the id of a delayed job that is due, gets a slot, and runs again after a failure", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const job = `${world.lane}/order`
      const blocking = yield* scheduler.enqueue(world.job())
      yield* scheduler.enqueue({ ...world.job({ job, unique: { key: "order" } }), delay: "1 minute" })
      const duplicate = new DuplicateJob({ group: world.group, key: "order", job })
      const refused = refusal(scheduler.enqueue(world.job({ unique: { key: "order" } })))
      assert.deepStrictEqual(yield* refused, duplicate)
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueDue(1_000)
      assert.strictEqual(yield* stateOf(job), "pending")
      yield* scheduler.cancel(blocking.job)
      const [claimed] = yield* world.claim()
      assert.strictEqual(claimed?.job, job)
      yield* atomically(Effect.gen(function*() {
        const lanes = yield* scheduler.load({ jobs: [claimed!] })
        const retried = Result.getOrThrow(Lanes.retry(lanes, { ...claimed!, delay: "1 minute" }))
        assert.deepInclude(retried.value, { job, state: "delayed" })
        yield* scheduler.save(retried.state)
      }))
      assert.strictEqual(yield* stateOf(job), "delayed")
      assert.deepStrictEqual(yield* refused, duplicate)
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueDue(1_000)
      const [again] = yield* world.claim()
      assert.deepInclude(again, { job, failures: 1 })
      yield* scheduler.settle(again!)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("never confuses two texts, and enqueues one text once", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const texts = textsOf(world.lane)
      const enqueue = (job: string, n: number) =>
        scheduler.enqueue({
          ...world.job({ job, payload: { n }, cap: 6 }),
          delay: n % 3 === 0 ? "1 hour" : undefined
        })
      yield* Effect.forEach(texts, enqueue)
      for (const job of texts) assert.deepStrictEqual(ids(yield* scheduler.find([job])), [job])
      assert.sameMembers(ids(yield* scheduler.find(texts)), texts)
      for (const [n, job] of texts.entries()) {
        // As delayed as the first one, and not.
        for (const other of [n, n + 1]) {
          assert.strictEqual((yield* Effect.flip(enqueue(job, other)))._tag, "StorageError")
        }
      }
      const claimed = yield* world.claim({ limit: 100 })
      for (const { job, payload } of claimed) {
        assert.deepStrictEqual(payload, { n: texts.indexOf(job) })
      }
      assert.strictEqual(claimed.length, 6)
      yield* Effect.forEach(claimed, scheduler.settle)
      const left = texts.filter((job) => !ids(claimed).includes(job))
      for (const job of left) assert.strictEqual((yield* scheduler.cancel(job)).job, job)
      assert.deepStrictEqual(yield* scheduler.find(texts), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers the test of ids that cannot be stored. */
export const refusedJobIdTests = (test: Register): void => {
  test("refuses ids that are empty, too long, or cannot be stored, and finds no job with them", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      for (const job of ["", "x".repeat(256), "🎬".repeat(256), "a\0b", "a\ud800b", "\udc00"]) {
        const refused = new InvalidJobId({ job, max: 255 })
        assert.deepStrictEqual(yield* refusal(scheduler.enqueue(world.job({ job }))), refused)
        assert.deepStrictEqual(yield* refusal(scheduler.enqueue({ ...world.job({ job }), delay: "1 hour" })), refused)
        assert.deepStrictEqual(yield* scheduler.find([job]), [])
        assert.deepStrictEqual(yield* refusal(scheduler.cancel(job)), new NotFound({ job }))
        assert.deepStrictEqual(yield* refusal(scheduler.requeue(job)), new NotFound({ job }))
      }
      // A lone surrogate becomes this character in UTF-8.
      yield* scheduler.enqueue(world.job({ job: `${world.lane}\ufffd` }))
      assert.deepStrictEqual(yield* scheduler.find([`${world.lane}\ud800`]), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const uuid = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

/** Returns texts that no other test uses, and that differ little. */
const textsOf = (world: string) => [
  world,
  `${world} `,
  world.toUpperCase(),
  `${world}/é`,
  `${world}/e\u0301`,
  `${world}/🎬`,
  `${world}\n`,
  `${world}'; --`,
  `${world}%`,
  `{${uuid}}`,
  uuid.replaceAll("-", ""),
  `${uuid}0`,
  world.padEnd(255, "x"),
  world.padEnd(254, "x"),
  `${world.padEnd(254, "x")}y`,
  "🎬".repeat(255)
]
