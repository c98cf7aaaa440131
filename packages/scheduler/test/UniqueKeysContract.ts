/** Unique keys: who holds one, how long, and what a second job with it gets. */
import { assert, layer } from "@effect/vitest"
import { type Decision, UnitOfWork } from "@kinora/persistence"
import { Effect, type Layer, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld, refusal } from "../src/internal/contract/world.ts"
import { DuplicateJob } from "../src/internal/reasons.ts"
import type { Delay, Enqueue } from "../src/internal/requests.ts"
import type { ClaimedJob } from "../src/Job.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import type { Backend } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Unique keys (${name})`, (it) => {
    it.effect.prop(
      "a job is refused exactly if another one with its key has not ended, in random sequences of operations",
      [Schema.Array(Command).check(Schema.isMinLength(20), Schema.isMaxLength(30))],
      ([commands]) => runStory(commands),
      { arbitrary: { runs: 40 } }
    )
  })

const Few = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Command = Schema.Union([
  Schema.TaggedStruct("enqueue", { key: Few(1), lane: Few(1), seconds: Few(2) }),
  Schema.TaggedStruct("enqueue", { key: Few(1), lane: Few(1), seconds: Few(2) }),
  Schema.TaggedStruct("cancel", { pick: Few(1) }),
  Schema.TaggedStruct("claim", {}),
  Schema.TaggedStruct("settle", { pick: Few(1) }),
  Schema.TaggedStruct("retry", { pick: Few(1) }),
  Schema.TaggedStruct("place", {})
])

/** Compares refusals with a list of the jobs that have not ended. */
const runStory = Effect.fnUntraced(function*(commands: ReadonlyArray<typeof Command.Type>) {
  const scheduler = yield* Scheduler
  const world = yield* makeWorld
  /** The jobs that have not ended, by their keys. */
  const holders = new Map<string, string>()
  const running = new Map<string, ClaimedJob>()
  const pickOf = <A>(items: Iterable<A>, pick: number) => Array.from(items)[pick]
  const end = (job: string) => {
    for (const [key, holder] of holders) if (holder === job) holders.delete(key)
    running.delete(job)
  }
  for (const command of commands) {
    switch (command._tag) {
      case "enqueue": {
        const key = `key-${command.key}`
        const job: Enqueue<{ readonly n: number }> & Delay = {
          ...world.job({ unique: { key }, lane: `${world.lane}-${command.lane}` }),
          delay: command.seconds * 1_000
        }
        const holder = holders.get(key)
        if (holder === undefined) {
          yield* scheduler.enqueue(job)
          holders.set(key, job.job)
        } else {
          const duplicate = new DuplicateJob({ group: world.group, key, job: holder })
          assert.deepStrictEqual(yield* refusal(scheduler.enqueue(job)), duplicate)
        }
        break
      }
      case "cancel": {
        const job = pickOf(holders.values(), command.pick)
        if (job !== undefined && Result.isSuccess(yield* Effect.result(scheduler.cancel(job)))) end(job)
        break
      }
      case "claim": {
        for (const job of yield* world.claim({ ttl: "1 day" })) running.set(job.job, job)
        break
      }
      case "settle": {
        const job = pickOf(running.values(), command.pick)
        if (job === undefined) break
        yield* scheduler.settle(job)
        end(job.job)
        break
      }
      case "retry": {
        const job = pickOf(running.values(), command.pick)
        if (job === undefined) break
        yield* retry(job)
        running.delete(job.job)
        break
      }
      case "place": {
        yield* TestClock.adjust("1 second")
        yield* scheduler.enqueueDue(1_000)
        break
      }
    }
  }
  assert.deepStrictEqual((yield* scheduler.find(Array.from(holders.values()))).length, holders.size)
  assert.deepStrictEqual(yield* scheduler.verify, [])
})

const inUnit = Effect.fnUntraced(function*<A, R>(
  job: ClaimedJob,
  decide: (lanes: Lanes.Lanes, job: string) => Decision.Decision<Lanes.Lanes, A, R>
) {
  const scheduler = yield* Scheduler
  const { atomically } = yield* UnitOfWork.UnitOfWork
  yield* atomically(Effect.gen(function*() {
    const { state } = Result.getOrThrow(decide(yield* scheduler.load({ jobs: [job] }), job.job))
    yield* scheduler.save(state)
  }))
})

/** Ends the run of a job, which is due again after a second. */
const retry = (job: ClaimedJob) => inUnit(job, (lanes) => Lanes.retry(lanes, { ...job, delay: "1 second" }))
