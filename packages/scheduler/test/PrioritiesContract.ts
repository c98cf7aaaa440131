/** Priorities order the jobs of a lane, and no others, on every backend. */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import * as CronSchedule from "../src/CronSchedule.ts"
import { ids, makeWorld, refusal } from "../src/internal/contract/world.ts"
import { InvalidPriority } from "../src/internal/reasons.ts"
import { Scheduler } from "../src/Scheduler.ts"
import type { Backend } from "./Fixture.ts"

const many = 1_000

/** A queued or running job, by its lane and its number in the lane. */
const Turn = Schema.Struct({
  lane: Schema.Literals([0, 1, 2]),
  priority: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  ends: Schema.Boolean
})

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Priorities (${name})`, (it) => {
    it.effect.prop(
      "do not change which lane is served next",
      [Schema.Array(Turn).check(Schema.isMinLength(6), Schema.isMaxLength(16)), Schema.Literals([1, 2])],
      ([turns, weight]) =>
        Effect.gen(function*() {
          const serve = Effect.fnUntraced(function*(priorityOf: (turn: typeof Turn.Type) => number) {
            const scheduler = yield* Scheduler
            const world = yield* makeWorld
            const lane = (n: number) => `${world.lane}-${n}`
            yield* Effect.forEach(turns, (turn) =>
              scheduler.enqueue(world.job({
                lane: lane(turn.lane),
                cap: many,
                weight: turn.lane === 0 ? weight : 1,
                priority: turn.lane === 0 ? priorityOf(turn) : 0
              })))
            const served: Array<number> = []
            for (const { ends } of turns) {
              const [job] = yield* world.claim({ limit: 1 })
              if (job === undefined) break
              served.push([0, 1, 2].findIndex((n) => job.lane === lane(n)))
              if (ends) yield* scheduler.settle(job)
            }
            assert.deepStrictEqual(yield* scheduler.verify, [])
            return served
          })
          assert.deepStrictEqual(yield* serve(({ priority }) => priority), yield* serve(() => 0))
        }),
      { arbitrary: { runs: 40 } }
    )

    it.effect("are refused if they are not whole numbers from 0 to 100, and nothing is changed", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.setCap({ ...world, cap: 3 })
        for (const priority of [-1, 101, 0.5, Number.NaN, Infinity]) {
          const job = world.job({ cap: many, priority })
          const refused = new InvalidPriority({ job: job.job, priority, max: 100 })
          assert.deepStrictEqual(yield* refusal(scheduler.enqueue(job)), refused)
          assert.deepStrictEqual(yield* refusal(scheduler.enqueue({ ...job, delay: "1 hour" })), refused)
          assert.throws(() => CronSchedule.make({ ...job, name: "a", cron: "* * * * *", payload: () => ({ n: 1 }) }))
        }
        assert.deepStrictEqual(yield* scheduler.lanes({ group: world.group, limit: 1 }), [])
        const accepted = yield* Effect.forEach(
          [undefined, 0, 100],
          (priority) => scheduler.enqueue(world.job({ priority, cap: 3 }))
        )
        assert.deepInclude((yield* scheduler.lanes({ group: world.group, limit: 1 }))[0], { cap: 3, queued: 3 })
        const found = yield* scheduler.find(ids(accepted))
        assert.deepStrictEqual(found.map(({ priority }) => priority).toSorted((a, b) => a - b), [0, 0, 100])
      }))
  })
